import {status, type ServerWritableStream} from '@grpc/grpc-js';
import type {Plain} from '../containerd/containerd-services.js';
import {toGrpcStatusError} from '../runtime/grpc-status-error.js';

type Callback = (error: object | null, response?: object) => void;

/** Returns the implementation of a method that replies with the answer to a request, or with the error that it throws. */
export function unaryMethod(answer: (request: Plain) => object | Promise<object>) {
  return async ({request}: {readonly request: Plain}, callback: Callback): Promise<void> => {
    try {
      callback(null, await answer(request));
    } catch (error) {
      const {code, message} = toGrpcStatusError(error);
      callback({code: status[code], details: message});
    }
  };
}

/** Open streams of a plugin, each of which gets the current message first, and every later one. */
export class MessageStreams {
  readonly #streams = new Set<ServerWritableStream<Plain, object>>();
  readonly #message: () => object;

  constructor(message: () => object) {
    this.#message = message;
  }

  /** Number of open streams. */
  get size(): number {
    return this.#streams.size;
  }

  /** Implementation of the method that opens a stream. */
  readonly open = (stream: ServerWritableStream<Plain, object>): void => {
    this.#streams.add(stream);
    stream.on('cancelled', () => {
      this.#streams.delete(stream);
      stream.end();
    });
    stream.write(this.#message());
  };

  /** Sends the current message. */
  send(): void {
    for (const stream of this.#streams) stream.write(this.#message());
  }
}
