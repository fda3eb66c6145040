// The official client for JavaScript.
import OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { ASK, DOUBT, PERSON, Person, TOOL_HISTORY, report, url, user } from "./case.js";

const client = new OpenAI({ baseURL: url, apiKey: "unused", maxRetries: 0 });
const model = (await client.models.list()).data[0].id;
const ask = async (messages, fields) =>
  (await client.chat.completions.create({ model, messages, ...fields })).choices[0];
const confidences = (choice) => choice.demur.fields.map((field) => field.confidence);

const answered = await ask(user(ASK), { max_tokens: 4096, stop: ["\n\n\n"] });
report("answer", answered.message.content, answered.demur.confidence);
const abstained = await ask(user(DOUBT));
report("abstention", abstained.message.content, abstained.demur.confidence);
let text = "";
let last;
for await (const chunk of await client.chat.completions.create({ model, messages: user(ASK), stream: true })) {
  text += chunk.choices[0].delta.content ?? "";
  last = chunk.choices[0];
}
report("stream", text, last.demur.confidence);
const format = zodResponseFormat(Person, "person");
const parsed = (await client.chat.completions.parse({ model, messages: user(PERSON), response_format: format })).choices[0];
report("structured", parsed.message.parsed, confidences(parsed));
const streamed = client.chat.completions.stream({ model, messages: user(PERSON), response_format: format });
report("structured_stream", (await streamed.finalChatCompletion()).choices[0].message.parsed);
const tools = [zodFunction({ name: "save", parameters: Person })];
const forced = await ask(user(PERSON), { tools, tool_choice: { type: "function", function: { name: "save" } } });
report("tool", JSON.parse(forced.message.tool_calls[0].function.arguments), confidences(forced));
report("history", (await ask(TOOL_HISTORY)).message.content);
report("responses", (await client.responses.create({ model, input: ASK })).output_text);
await ask(user(ASK), { risk_treshold: 0.3 }).catch((error) => report("unknown", error.code, error.param));
await client.chat.completions.create({ model: "other", messages: user(ASK) }).catch((error) => report("error", error.code));
