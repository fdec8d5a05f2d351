/** Side of a connection. */
export type Side = 'client' | 'server';

/** Reads along on a connection of a relay. */
export interface RelayTap {
  /** Reads what one side has sent. Throws ProtocolError if it is not HTTP/2; nothing may be read afterwards. */
  read(from: Side, chunk: Buffer): void;
  /** Ends all calls because the connection is closed. */
  close(): void;
  /** True if URLs of sessions are to be replaced: whatever the client sends must be read before the runtime answers. */
  readonly replacesUrls: boolean;
  /** True if what the runtime sends next may contain a URL to replace: it must be read before it is passed on. */
  readonly awaitsUrl: boolean;
  /** True if a part of a URL was read: what was read since its start must be held back. */
  readonly hasIncompleteUrl: boolean;
  /** Leaves the URLs that were partly read as they are, for a reason unless the response will not be complete. */
  abandonUrls(reason?: string): void;
  /** True if a frame to the client may be inserted now. */
  readonly isBetweenFrames: boolean;
  /** Reports whether a call has not ended, other than a stream, which may never end. */
  hasOpenUnaryCalls(): Promise<boolean>;
}

/** Decides when what was relayed is read. */
export interface ReadQueue {
  /** True if `push` does the work at once, which copies what it reads: its memory may be reused afterwards. */
  readonly copies: boolean;
  /** Reports that something happens, which reading should not delay. */
  touch(): void;
  /** Adds work that holds memory of `bytes`. It must not throw. */
  push(run: () => void, bytes: number): void;
  /** Does all work that waits. */
  finish(): void;
  /** Returns true if there is too much to read; then `act` is called when there is not. */
  awaitRoom(act: () => void): boolean;
}
