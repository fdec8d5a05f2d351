/** Handles the events of a connection to a Unix socket. */
export interface SocketHandlers {
  onConnect(): void;
  /** `chunk` is only valid during the call. */
  onRead(chunk: Buffer): void;
  /** The buffer has been sent after `needsDrain` was true. */
  onDrain(): void;
  /**
   * The connection could not be established, or has ended; `error` has the code of the failed system call. May be called
   * again.
   */
  onLost(error?: Error): void;
}

/** A client connection to a Unix socket, which sends in the background. */
export interface UnixSocket {
  /** True while the buffer is so full that nothing should be written; `onDrain` is called afterwards. */
  readonly needsDrain: boolean;
  /** True while bytes wait to be sent. */
  readonly hasUnsent: boolean;
  write(bytes: Buffer): void;
  /** Collects what is written, until `uncork` sends it at once. */
  cork(): void;
  uncork(): void;
  /** Leaves what arrives from now on in the kernel, until `resumeReading`. */
  stopReading(): void;
  resumeReading(): void;
  /** Makes the connection keep the process alive, which it does by default. */
  ref(): void;
  unref(): void;
  /** Closes the connection. Unsent bytes are dropped, and no handler is called afterwards but `onLost`. */
  destroy(): void;
}
