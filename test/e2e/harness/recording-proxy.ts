import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {
  Client,
  credentials,
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerUnaryCall,
} from '@grpc/grpc-js';
import {criServices, type DecodedRequest} from '../../fakes/runtime/cri-messages.js';
import type {ComparableCall} from '../../../src/recording/canonical/canonical-calls.js';

/** A proxy between kcri and a runtime that records the calls. */
export interface RecordingProxy extends AsyncDisposable {
  readonly endpoint: string;
  /** Unary calls in the order of their starts. */
  readonly calls: readonly ComparableCall[];
}

type Recorded = Omit<ComparableCall, 'code'> & {code: string | undefined};

const identity = (bytes: Buffer): Buffer => bytes;

/** Starts a proxy on a new socket. It forwards the bytes of requests and responses unchanged. */
export async function startRecordingProxy(endpoint: string): Promise<RecordingProxy> {
  const dir = await mkdtemp(join(tmpdir(), 'kcri-proxy-'));
  const options = {'grpc.max_receive_message_length': -1, 'grpc.default_authority': 'localhost'};
  const client = new Client(endpoint.replace('unix://', 'unix:'), credentials.createInsecure(), options);
  const server = new Server(options);
  const calls: Recorded[] = [];
  for (const service of criServices()) {
    const unary = Object.entries(service).filter(([, {responseStream}]) => !responseStream);
    const definition = unary.map(([rpc, method]) => [
      rpc,
      {
        ...method,
        requestSerialize: identity,
        requestDeserialize: identity,
        responseSerialize: identity,
        responseDeserialize: identity,
      },
    ]);
    const handlers = unary.map(([rpc, {path, requestDeserialize, responseDeserialize}]) => [
      rpc,
      (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => {
        const deadline = Number(call.getDeadline());
        let answered: Buffer | undefined;
        // Decoded on access, since most calls only read and are never examined.
        const record: Recorded = {
          method: rpc,
          get request() {
            return (requestDeserialize(call.request) as DecodedRequest).json;
          },
          get response() {
            return answered === undefined ? undefined : (responseDeserialize(answered) as object);
          },
          code: undefined,
          deadlineMs: deadline === Infinity ? undefined : deadline - Date.now(),
        };
        calls.push(record);
        client.makeUnaryRequest(path, identity, identity, call.request, {deadline}, (error, response) => {
          record.code = goCode(error?.code ?? status.OK);
          answered = response;
          if (error === null) answer(null, response);
          else answer({code: error.code, details: error.details});
        });
      },
    ]);
    server.addService(
      Object.fromEntries(definition) as Parameters<Server['addService']>[0],
      Object.fromEntries(handlers) as Parameters<Server['addService']>[1],
    );
  }
  const socket = join(dir, 'cri.sock');
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
  return {
    endpoint: `unix://${socket}`,
    calls,
    [Symbol.asyncDispose]: async () => {
      server.forceShutdown();
      client.close();
      await rm(dir, {recursive: true});
    },
  };
}

/** Returns Go's name of a status, as in the recordings: `OK`, `NotFound`. */
function goCode(code: status): string {
  if (code === status.OK) return 'OK';
  return status[code].toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
