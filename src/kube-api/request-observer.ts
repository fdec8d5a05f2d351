/** A response of the server, or a request that got none. */
export interface ObservedResponse {
  readonly method: string;
  /** Status code; undefined if there was no response. */
  readonly status: number | undefined;
  readonly requestBytes: number;
}

/** Observes the requests of clients (client-go tools/metrics). Methods must be fast and must not throw. */
export interface RequestObserver {
  /** Called when the client's limit of its rate lets a request pass. */
  waited(method: string, durationMs: number): void;
  /** Called for each try of a request with the head of its response. */
  responded(response: ObservedResponse): void;
  /** Called when a request has ended, with the time of all its tries; watches are not reported. */
  ended(method: string, durationMs: number): void;
  /** Called with the size of the body of a response. */
  received(method: string, bytes: number): void;
}

/** Observer that drops everything. */
export const NO_OBSERVER: RequestObserver = {
  waited: () => undefined,
  responded: () => undefined,
  ended: () => undefined,
  received: () => undefined,
};
