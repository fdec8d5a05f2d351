import type {JsonObject} from './canonical-json.js';

/** A call to a runtime. Lists of them are in the order of the starts. */
export interface ComparableCall {
  readonly method: string;
  /** Proto JSON with proto names, without zero values. */
  readonly request: object;
  /** Response in proto names or camelCase. Only new IDs are read from it. */
  readonly response?: object | undefined;
  readonly code: string | undefined;
  /** Timeout of the call. Undefined for RPCs without one. */
  readonly deadlineMs: number | undefined;
}

/** A line of a canonical recording: a call, or the mark of an external action. */
export type CanonicalLine = CanonicalCall | {readonly mark: string};

/** A call in which nothing depends on its run. */
export interface CanonicalCall {
  readonly method: string;
  readonly timeout_s: number;
  readonly req: JsonObject;
  readonly code: string;
  readonly resp?: JsonObject;
  readonly msg?: string;
  /** True if it represents any number of a probe's calls. */
  readonly probe?: boolean;
}

/** A call with a request in plain JSON. */
export interface PlainCall extends ComparableCall {
  readonly request: JsonObject;
  readonly ids: {readonly sandbox?: string; readonly container?: string; readonly image?: string};
}
