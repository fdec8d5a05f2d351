/** Metadata of an API object that list and watch need. */
export interface ListedObject {
  readonly metadata: {
    readonly uid?: string;
    readonly name?: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
  };
}

/** Event of a watch (watch.Event). */
export type WatchEvent<T> =
  | {readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T}
  /** Event after which all events up to this version have been sent. */
  | {readonly type: 'BOOKMARK'; readonly resourceVersion: string}
  /** Error event; code 410 means that the version is too old to resume from. */
  | {readonly type: 'ERROR'; readonly code: number; readonly message: string};

/** List of all objects at one version. */
export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** Collection of an API server, such as the pods of a node (cache.ListerWatcher). */
export interface ListerWatcher<T> {
  /** Lists all objects at a version that is not older: `0` for any version, `''` for the newest. */
  list(resourceVersion: string, signal: AbortSignal): Promise<ObjectList<T>>;
  /**
   * Watches changes after the version; the server can end the watch at any time. Rejects with ApiStatusError and
   * others.
   */
  watch(resourceVersion: string, signal: AbortSignal): AsyncIterable<WatchEvent<T>>;
}

/** Error status returned by the API server. */
export class ApiStatusError extends Error {
  /** HTTP status, such as 410 for a version that is too old. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'ApiStatusError';
    this.code = code;
  }
}
