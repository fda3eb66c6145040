// Names for what goes over the wire, as the page's JSDoc has them. `api` is made of the server's own OpenAPI document by
// scripts/check-page, so that a field that the server does not have is an error.

import type { components } from "./made/api";

type Wire = components["schemas"];

/** The fields of any form of a request: which go together is the server's to say. */
type Fields<Forms> = Forms extends unknown ? keyof Forms : never;
type Known = {
  question: string;
  messages: Message[];
  contract: string;
  granularity: Granularity;
  risk_threshold: number;
  max_error: number;
  samples: number;
  selection: string;
};

declare global {
  /** A reply; one that was moved to another threshold has the same form. */
  type Reply = Wire["Answer"];
  type Claim = Wire["GivenClaim"];
  type Samples = Wire["SampleReport"];
  type Sample = Wire["SampleMember"];
  type Group = Wire["SampleGroup"];
  type Guarantee = Wire["GivenGuarantee"];
  type Example = Partial<Wire["Example"]> & { question: string };
  type Measured = Wire["Measured"];
  type Calibrator = Wire["CalibratorCard"];
  type ContractCard = Wire["ContractCard"];
  type Item = Wire["QueueItem"];
  type Model = { id: string } & Wire["ModelCard"];
  type Message = { role: "user" | "assistant"; content: string };
  type Granularity = Reply["granularity"];
  /** A question with its settings, as it is sent, linked and kept: `question` or `messages`. */
  type Asked = { [K in Fields<Wire["AnswerRequest"]>]?: K extends keyof Known ? Known[K] : any };
  /** What to abstain by. */
  type Bar = { risk_threshold: number } | { max_error: number };
  /** A level of a calibrator, with what holds for all of its levels. */
  type Level = Wire["Level"] & { exact: boolean; delta: number };
  /** A reply at another threshold, or why there is none. */
  type Moved = (Reply & { refused?: undefined }) | { refused: "explicit_risk" | "withheld"; decision?: undefined };
  /** A piece of an answer's text; `claim` is null between claims. */
  type Segment = { text: string; claim: Claim | null };
  type Mode = "decide" | "mark" | "tell";
  type Formula = { latex: string; display: boolean };

  /** The part of Temml that is called. */
  type Temml = { __renderToMathMLTree(latex: string, settings: object): TemmlNode };
  type TemmlNode = {
    type?: string;
    text?: string;
    attributes?: Record<string, string>;
    style?: Record<string, string>;
    classes?: string[];
    children: TemmlNode[];
  };
}
