// Rules for the page's modules. Layout is left to whoever writes; what is checked here can go wrong.

import js from "@eslint/js";
import globals from "globals";

/** Strings become markup or code through these alone, and the page's policy refuses them at run time. */
const MARKUP = ["innerHTML", "outerHTML", "insertAdjacentHTML", "srcdoc", "document.write"].map((name) => ({
  selector: name === "document.write" ? "CallExpression[callee.property.name='write'][callee.object.name='document']" :
    `MemberExpression[property.name='${name}']`,
  message: "Build elements with el(): a model's text must never become markup.",
}));

export default [
  js.configs.recommended,
  {
    files: ["**/*.js"],
    linterOptions: { reportUnusedDisableDirectives: "error" },
    languageOptions: { ecmaVersion: 2023, sourceType: "module", globals: globals.browser },
    rules: {
      "no-restricted-syntax": ["error", ...MARKUP],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-unused-vars": ["error", { varsIgnorePattern: "^_$", ignoreRestSiblings: true }],
      "no-use-before-define": ["error", { functions: false, variables: false }],
      "no-shadow": ["error", { builtinGlobals: false }],
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "consistent-return": "off",
      "no-console": "error",
      // Characters that nobody sees are named in classes on purpose.
      "no-control-regex": "off",
      "no-misleading-character-class": "off",
      "max-lines": ["error", 250],
      "max-lines-per-function": ["error", { max: 45, skipComments: true, skipBlankLines: true }],
      complexity: ["error", 14],
    },
  },
];
