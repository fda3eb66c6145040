// Vercel's AI SDK.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, Output, streamText, tool } from "ai";
import { ASK, DOUBT, PERSON, Person, report, url } from "./case.js";

const extractor = {
  extractMetadata: async ({ parsedBody }) => ({ demur: { confidence: parsedBody.choices[0].demur.confidence } }),
  createStreamExtractor: () => {
    let confidence = null;
    return {
      processChunk: (chunk) => {
        confidence = chunk?.choices?.[0]?.demur?.confidence ?? confidence;
      },
      buildMetadata: () => ({ demur: { confidence } }),
    };
  },
};
const provider = createOpenAICompatible({
  name: "demur",
  baseURL: url,
  apiKey: "unused",
  supportsStructuredOutputs: true,
  metadataExtractor: extractor,
});
const model = provider("demur-test");
const plain = { model, maxRetries: 0 };

for (const [name, prompt] of [["answer", ASK], ["abstention", DOUBT]]) {
  const found = await generateText({ ...plain, prompt });
  report(name, found.text, found.providerMetadata.demur.confidence);
}
const stream = streamText({ ...plain, prompt: ASK });
let text = "";
for await (const piece of stream.textStream) text += piece;
report("stream", text, (await stream.providerMetadata).demur.confidence);
report("structured", (await generateText({ ...plain, prompt: PERSON, output: Output.object({ schema: Person }) })).output);
const live = streamText({ ...plain, prompt: PERSON, output: Output.object({ schema: Person }) });
let object;
for await (const partial of live.partialOutputStream) object = partial;
report("structured_stream", object);
const save = tool({ inputSchema: Person });
const forced = await generateText({ ...plain, prompt: PERSON, tools: { save }, toolChoice: { type: "tool", toolName: "save" } });
report("tool", forced.toolCalls[0].input);
const history = [
  { role: "user", content: ASK },
  { role: "assistant", content: [{ type: "tool-call", toolCallId: "call_1", toolName: "count_legs", input: { of: "spider" } }] },
  {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: "call_1", toolName: "count_legs", output: { type: "text", value: "8" } }],
  },
];
const count_legs = tool({ inputSchema: jsonSchema({ type: "object" }) });
report("history", (await generateText({ ...plain, messages: history, tools: { count_legs } })).text);
const unknown = { ...plain, prompt: ASK, providerOptions: { demur: { risk_treshold: 0.3 } } };
await generateText(unknown).catch((error) => report("unknown", error.data?.error?.code ?? error.statusCode, JSON.parse(error.responseBody).error.param));
await generateText({ ...plain, model: provider("other"), prompt: ASK }).catch((error) =>
  report("error", JSON.parse(error.responseBody).error.code),
);
