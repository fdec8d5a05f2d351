// A runtime with many objects whose calls cost almost nothing: the fake runtime's responses are cached as bytes. It is
// a separate process: node runtime.mjs SOCKET OBJECTS. It exits at the end of its standard input.
import {createHash} from 'node:crypto';
import {createServer} from 'node:http2';
import {join} from 'node:path';
import {buffer} from 'node:stream/consumers';
import {pathToFileURL} from 'node:url';
import {Client, credentials, status} from '@grpc/grpc-js';
import {compileFakes} from '../../../scripts/compile-fakes.mjs';

/** containerd's maximum size of a message. */
const MAX_BYTES = 16 * 1024 * 1024;
const PREFIX_LENGTH = 5;

const [socketPath, objects] = process.argv.slice(2);
const {aContainer, anImage, aSandbox, BUILT_AT_NANOS, FakeRuntime} = await import(
  pathToFileURL(join(compileFakes(), 'fake-runtime.js')).href
);

/**
 * Creates pods with one container each, and images, with the kubelet's labels, in random order as a runtime has them.
 */
function manyObjects(count) {
  const numbers = Array.from({length: count}, (_, index) => index);
  const shuffled = numbers.toSorted((a, b) => (hash(a) < hash(b) ? -1 : 1));
  const sandboxes = shuffled.map(pod);
  return {
    sandboxes,
    containers: sandboxes.map((sandbox, index) => container(sandbox, shuffled[index])),
    images: shuffled.map((n) => anImage({name: `registry.example.org/team-${n % 50}/app-${n}:v1.${n % 7}`})),
  };
}

const hash = (n) => createHash('sha256').update(String(n)).digest('hex');
const createdAt = (n) => BUILT_AT_NANOS + BigInt(n) * 1_000_000_000n;

function pod(n) {
  return aSandbox({
    name: `app-${n}-${hash(n).slice(0, 5)}`,
    namespace: `team-${n % 50}`,
    createdAt: createdAt(n),
    labels: {app: `app-${n}`, 'pod-template-hash': hash(n).slice(0, 10)},
    annotations: {
      'kubernetes.io/config.seen': '2026-05-01T12:00:00.000000000Z',
      'kubernetes.io/config.source': 'api',
    },
  });
}

function container(sandbox, n) {
  return aContainer({
    sandbox,
    createdAt: createdAt(n),
    annotations: {
      'io.kubernetes.container.hash': hash(n).slice(0, 8),
      'io.kubernetes.container.restartCount': '0',
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
      'io.kubernetes.pod.terminationGracePeriod': '30',
    },
  });
}

const runtime = await FakeRuntime.start(manyObjects(Number(objects)));
const client = new Client(runtime.endpoint, credentials.createInsecure(), {
  'grpc.max_receive_message_length': -1,
});
const identity = (bytes) => bytes;

/** Cached responses by method and request: bodies and trailers. */
const responses = new Map();

function responseTo(path, body) {
  const key = `${path} ${body.toString('latin1')}`;
  let response = responses.get(key);
  if (response === undefined)
    responses.set(key, (response = fetchResponse(path, body.subarray(PREFIX_LENGTH))));
  return response;
}

async function fetchResponse(path, request) {
  try {
    const messages = await (path.includes('/Stream') ? streamed : single)(path, request);
    const tooLong = messages.find(({length}) => length > MAX_BYTES);
    if (tooLong === undefined)
      return {body: Buffer.concat(messages.map(framed)), trailers: {'grpc-status': '0'}};
    const details = `grpc: trying to send message larger than max (${tooLong.length} vs. ${MAX_BYTES})`;
    return errorResponse({code: status.RESOURCE_EXHAUSTED, details});
  } catch (error) {
    return errorResponse(error);
  }
}

async function streamed(path, request) {
  const messages = [];
  for await (const message of client.makeServerStreamRequest(path, identity, identity, request))
    messages.push(message);
  return messages;
}

function single(path, request) {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, identity, identity, request, (error, message) => {
      if (error === null) resolve([message]);
      else reject(error);
    });
  });
}

function errorResponse({code, details}) {
  return {
    body: Buffer.alloc(0),
    trailers: {'grpc-status': String(code), 'grpc-message': encodeURI(details)},
  };
}

function framed(message) {
  const prefix = Buffer.alloc(PREFIX_LENGTH);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

const server = createServer();
server.on('stream', (stream, headers) => {
  stream.on('error', () => undefined); // the client has disconnected
  buffer(stream)
    .then((request) => responseTo(headers[':path'], request))
    .then(
      ({body, trailers}) => {
        // The client may have disconnected meanwhile.
        if (stream.destroyed) return;
        stream.respond({':status': 200, 'content-type': 'application/grpc'}, {waitForTrailers: true});
        stream.on('wantTrailers', () => {
          stream.sendTrailers(trailers);
        });
        stream.end(body);
      },
      () => stream.close(),
    );
});
server.listen(socketPath, () => process.stdout.write('ready\n'));
process.stdin.on('end', () => process.exit()).resume();
