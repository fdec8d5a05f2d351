import {decode, encode} from './codec.js';
import type {Init} from './call-options.js';
import type {MessageName} from './gen/schema.js';
import type {MessageTypes} from './gen/types.js';
import {rpcFailure, type Transport} from './transport.js';

/** Methods whose responses can be recorded. */
type Recordable = {
  [Name in MessageName]: Name extends `${infer Rpc}Response` ? Rpc : never;
}[MessageName];

type Message<Name extends string> = Name extends MessageName ? MessageTypes[Name] : never;

/** Functions that answer calls from a recording, by method; undefined for an object that is not in it. */
export type RecordedAnswers = {
  readonly [Rpc in Recordable]?: (
    request: Message<`${Rpc}Request`>,
  ) => Init<Message<`${Rpc}Response`>> | undefined;
};

/**
 * Returns a transport that answers calls from a recording, and refuses all others with UNIMPLEMENTED. `name` is that of the
 * recording, for errors.
 */
export function recordedTransport(endpoint: string, name: string, answers: RecordedAnswers): Transport {
  const refused = (path: string): Error =>
    rpcFailure(endpoint, path, {grpcCode: 'UNIMPLEMENTED', details: `${name} is a saved node`});
  return {
    unary: async (path, request, createSink, {signal}) => {
      signal?.throwIfAborted();
      await Promise.resolve();
      const rpc = path.slice(path.lastIndexOf('/') + 1);
      const answer = (
        answers as Readonly<Record<string, ((message: unknown) => object | undefined) | undefined>>
      )[rpc];
      if (answer === undefined) throw refused(path);
      const response = answer(decode(`${rpc}Request` as MessageName, request));
      if (response === undefined)
        throw rpcFailure(endpoint, path, {grpcCode: 'NOT_FOUND', details: `it is not in ${name}`});
      const sink = createSink();
      sink.push(encode(`${rpc}Response` as MessageName, response));
      return sink;
    },
    stream: (path) => ({
      [Symbol.asyncIterator]: () => ({
        next: async () => await Promise.reject(refused(path)),
      }),
    }),
    close: () => undefined,
  };
}
