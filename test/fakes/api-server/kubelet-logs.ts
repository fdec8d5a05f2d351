import type {IncomingMessage} from 'node:http';
import {request} from 'node:https';
import {text} from 'node:stream/consumers';
import {pipeline} from 'node:stream/promises';
import type {ApiCall, Handlers} from './api-call.js';
import {answerStatus} from './api-request.js';
import {kubeletEndpoint, nodeNameOf, type KubeletClientCertificate} from './kubelet-endpoint.js';
import {withObject} from './object-handlers.js';
import type {StoredObject} from './object-storage.js';

const REASONS: Readonly<Record<number, string>> = {400: 'BadRequest', 404: 'NotFound'};

/** Returns the handler of `pods/log`, which passes on what the kubelet answers (LogREST). */
export function logHandlers(certificate: KubeletClientCertificate): Handlers {
  return {
    'GET pods/log': withObject(async (call, pod) => {
      await passLog(call, pod, certificate);
    }),
  };
}

async function passLog(
  call: ApiCall,
  pod: StoredObject,
  certificate: KubeletClientCertificate,
): Promise<void> {
  const {
    storage,
    response,
    request: {query},
  } = call;
  const {namespace = '', name} = pod.metadata;
  const endpoint = kubeletEndpoint(storage, nodeNameOf(pod), certificate);
  if (endpoint === undefined) {
    answerStatus(response, 500, {reason: 'InternalError', message: `no kubelet runs pod "${name}"`});
    return;
  }
  const {container = onlyContainer(pod), ...options} = query;
  const path = `/containerLogs/${namespace}/${name}/${container}?${new URLSearchParams(options).toString()}`;
  const log = await answerOf({...endpoint, path});
  if (log.statusCode !== 200) {
    const code = log.statusCode ?? 500;
    const message = (await text(log)).trim();
    answerStatus(response, code, {reason: REASONS[code] ?? 'InternalError', message});
    return;
  }
  response.writeHead(200, {'content-type': 'text/plain'});
  response.flushHeaders();
  // A client that goes away ends the request to the kubelet.
  await pipeline(log, response).catch(() => undefined);
}

async function answerOf(options: object): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    request(options, resolve).on('error', reject).end();
  });
}

function onlyContainer(pod: StoredObject): string {
  const {containers} = pod['spec'] as {readonly containers: readonly {readonly name: string}[]};
  return containers[0]?.name ?? '';
}
