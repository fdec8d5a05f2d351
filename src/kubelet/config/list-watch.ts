/** An object of the API server, as far as following needs it. */
export interface Listed {
  readonly metadata: {
    readonly uid?: string;
    readonly name?: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
  };
}

/** What a watch tells (watch.Event). */
export type WatchEvent<T> =
  | {readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T}
  /** Everything up to this version has been told. */
  | {readonly type: 'BOOKMARK'; readonly resourceVersion: string}
  /** 410 says that the version is too old to go on from. */
  | {readonly type: 'ERROR'; readonly code: number; readonly message: string};

/** All objects at one version. */
export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** A collection of an API server (cache.ListerWatcher): the pods of one node, say. */
export interface ListerWatcher<T> {
  /** All objects, not older than the version: `0` for any, `` for the newest. */
  list(resourceVersion: string, signal: AbortSignal): Promise<ObjectList<T>>;
  /** What becomes of them after the version; ends whenever the server likes. Rejects with ApiStatusError and others. */
  watch(resourceVersion: string, signal: AbortSignal): AsyncIterable<WatchEvent<T>>;
}

/** The API server refused. */
export class ApiStatusError extends Error {
  /** The HTTP status, such as 410 for a version that is too old. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'ApiStatusError';
    this.code = code;
  }
}
