/** Metadata of an API object that list and watch need. */
export interface ListedObject {
  readonly metadata: {
    readonly uid?: string;
    readonly name?: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
  };
}

/** Event of a watch (watch.Event). An event of type ERROR ends the watch with an ApiError instead. */
export type WatchEvent<T> =
  | {readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T}
  /** Event after which all events up to this version have been sent; it can also end the initial events. */
  | {readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly endsInitialEvents?: boolean};

/** List of all objects at one version. */
export interface ObjectList<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** Start of a watch (metav1.ListOptions). */
export interface WatchStart {
  /** Version after which changes are watched; with initial events, a version that is not newer, or `''` for the newest. */
  readonly resourceVersion: string;
  /** Begins with all objects as ADDED, up to a bookmark that ends them (WatchList). */
  readonly sendInitialEvents?: boolean;
}

/** Collection of an API server, such as the pods of a node (cache.ListerWatcher). */
export interface ListerWatcher<T> {
  /**
   * Lists all objects at a version that is not older: `0` for any version, `''` for the newest. Rejects with ApiError
   * and the errors of connections.
   */
  list(resourceVersion: string, signal: AbortSignal): Promise<ObjectList<T>>;
  /**
   * Watches changes; the server can end the watch at any time. Rejects with ApiError, whose code 410 means that the
   * version is too old, and with the errors of connections.
   */
  watch(start: WatchStart, signal: AbortSignal): AsyncIterable<WatchEvent<T>>;
}
