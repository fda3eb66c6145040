// A walk through the page in Firefox, by WebDriver BiDi: node firefox.mjs, with PAGE (its address), FIREFOX (the program)
// and AXE (axe.min.js) in the environment. It prints "open NAME" where it wants a gate of the scripted engine opened, and
// ends with 1 at the first thing that is not as it should be.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import puppeteer from "puppeteer-core";

const { PAGE, FIREFOX, AXE } = process.env;
const PATIENCE = 60_000;
const say = (line) => process.stdout.write(`${line}\n`);

class Visit {
  errors = [];
  asked = 0;
  /** Once a step has tried what the policy refuses, its refusal is no fault of the page. */
  probed = false;

  static async open(browser, address = PAGE) {
    const visit = new Visit();
    visit.page = await browser.newPage();
    visit.page.setDefaultTimeout(PATIENCE);
    await visit.page.setViewport({ width: 1280, height: 900 });
    visit.page.on("pageerror", (error) => visit.#blame(String(error)));
    visit.page.on("console", (line) => ["error", "warn"].includes(line.type()) && visit.#blame(line.text()));
    visit.page.on("request", (request) => visit.#note(request.url()));
    await visit.page.goto(address);
    await visit.find("input[name=contract]");
    return visit;
  }

  #blame(text) {
    if (!(this.probed && /injection sink/.test(text))) this.errors.push(text);
  }

  #note(url) {
    if (/^(http|ws)/.test(url) && !url.startsWith(PAGE)) this.errors.push(`a request to ${url}`);
    if (url.endsWith("/v1/answers")) this.asked += 1;
  }

  find(selector) {
    return this.page.waitForSelector(selector);
  }

  text(selector) {
    return this.page.$eval(selector, (one) => one.innerText);
  }

  count(selector) {
    return this.page.$$eval(selector, (all) => all.length);
  }

  is(kind) {
    return this.find(`.verdict[data-kind="${kind}"]`);
  }

  /** As a reader would: click, and then the keyboard. */
  async ask(question, contract) {
    await this.page.click(`input[value=${contract}]`);
    await this.page.click("#question", { count: 3 });
    await this.page.keyboard.type(question);
    await this.page.keyboard.press("Enter");
  }

  async press(selector, key) {
    await this.page.focus(selector);
    await this.page.keyboard.press(key);
  }
}

const steps = {
  async "the slider decides before anything is asked"({ visit }) {
    await visit.press("#threshold", "End");
    assert.equal(await visit.text(".verdict h2"), "No answer");
    await visit.press("#threshold", "Home");
    assert.equal(await visit.text(".verdict .answer"), "It is a Wednesday.");
    assert.equal(visit.asked, 0);
  },

  async "steps stream in, and the doubtful one is marked"({ visit }) {
    for (let i = 0; i < 50; i++) await visit.press("#threshold", "ArrowRight");
    await visit.ask("How many eggs?", "claims");
    await visit.find(".step:not(.writing) .number");
    assert.equal(await visit.count(".step:not(.writing)"), 1);
    await visit.is("working");
    say("open eggs");
    await visit.is("answer");
    assert.equal(await visit.count(".step"), 2);
    assert.equal(await visit.text(".step.doubted .why"), "the sum was not checked");
    const [sure, doubted] = await visit.page.$$eval(".step .text", (all) => (
      all.map((one) => getComputedStyle(one).borderLeftColor)
    ));
    assert.notEqual(sure, doubted);
  },

  async "maths is set, in the font that comes with the page"({ visit }) {
    const math = await visit.find(".step mfrac");
    assert.ok((await math.boundingBox()).height > 15);
    assert.ok(await visit.page.evaluate(() => document.fonts.ready.then((all) => [...all].some((one) => (
      one.family.includes("Demur Math") && one.status === "loaded"
    )))));
  },

  async "markup in an answer stays text, and the policy holds"({ visit }) {
    assert.match(await visit.text(".step.doubted"), /<img src=x onerror/);
    assert.equal(await visit.count("main img"), 0);
    visit.probed = true;
    const made = await visit.page.evaluate(() => {
      try {
        document.createElement("p").innerHTML = "<b>x</b>";
        return "markup";
      } catch (error) {
        return error.name;
      }
    });
    assert.equal(made, "TypeError");
  },

  async "an answer below the threshold is declined, and the slider shows it"({ visit }) {
    await visit.ask("How many hens?", "response");
    await visit.is("answer");
    const before = visit.asked;
    await visit.press("#threshold", "End");
    await visit.is("abstain");
    assert.equal(await visit.count(".verdict .answer:not([hidden])"), 0);
    await visit.page.click(".actions button");
    await visit.is("answer");
    assert.equal(await visit.text("#threshold-value"), "62%");
    assert.equal(visit.asked, before);
  },

  async "Escape stops"({ visit }) {
    await visit.ask("How many geese?", "response");
    await visit.is("working");
    await visit.page.keyboard.press("Escape");
    await visit.is("failed");
    assert.match(await visit.text(".because"), /You stopped it/);
    say("open geese");
  },

  async "Back and Reload bring answers again, and history lists them"({ visit }) {
    const before = visit.asked;
    await visit.page.goBack();
    await visit.is("answer");
    assert.equal(await visit.text(".asked-question"), "How many hens?");
    await visit.page.reload();
    await visit.is("answer");
    await visit.page.click("#history summary");
    const kept = await visit.page.$$eval(".again", (all) => all.map((one) => one.innerText));
    assert.deepEqual(kept, ["How many hens?", "How many eggs?"]);
    assert.equal(visit.asked, before);
  },

  async "a link fills the form in another tab and asks nothing"({ browser, visit }) {
    const other = await Visit.open(browser, visit.page.url());
    await other.page.waitForFunction(() => document.getElementById("question").value === "How many hens?");
    assert.equal(other.asked, 0);
    assert.deepEqual(other.errors, []);
    await other.page.close();
  },

  async "the answer is copied"({ visit }) {
    await visit.page.bringToFront();
    await visit.page.click(".actions .copy");
    await visit.page.waitForFunction(() => document.querySelector(".actions .copy").innerText === "Copied");
  },

  async "axe finds nothing, and nothing is wider than a phone"({ visit }) {
    await visit.page.evaluate(await readFile(AXE, "utf8"));
    const found = await visit.page.evaluate(async () => (await window.axe.run()).violations.map((one) => one.id));
    assert.deepEqual(found, []);
    await visit.page.setViewport({ width: 320, height: 800 });
    assert.ok(await visit.page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
  },
};

const browser = await puppeteer.launch({ browser: "firefox", executablePath: FIREFOX, headless: true });
let name = "opening";
try {
  const visit = await Visit.open(browser);
  for (const step of Object.keys(steps)) {
    name = step;
    await steps[step]({ browser, visit });
    assert.deepEqual(visit.errors, []);
    say(`done ${step}`);
  }
} catch (error) {
  say(`failed ${name}: ${error.stack}`);
  process.exitCode = 1;
} finally {
  await browser.close();
}
