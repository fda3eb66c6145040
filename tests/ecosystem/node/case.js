// What every program asks, and how it tells what came back: one JSON list a line on standard output.
import { z } from "zod";

export const url = process.argv[2];
export const ASK = "How many legs has a spider?";
export const DOUBT = "How many legs has a millipede?";
export const PERSON = "Ada Lovelace was born in 1815.";
export const Person = z.object({ name: z.string().max(40), born: z.number().int().min(0).max(2100).nullable() });
export const report = (name, ...seen) => console.log(JSON.stringify([name, ...seen]));
export const user = (content) => [{ role: "user", content }];
const call = { id: "call_1", type: "function", function: { name: "count_legs", arguments: '{"of":"spider"}' } };
export const TOOL_HISTORY = [
  ...user(ASK),
  { role: "assistant", content: null, tool_calls: [call] },
  { role: "tool", tool_call_id: "call_1", content: "8" },
];
