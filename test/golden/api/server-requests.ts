import type {ClusterTestbed} from '../../kubelet/cluster/cluster-testbed.js';
import type {ServerSession} from '../../fakes/streaming/fake-streaming-server.js';
import {jsonShape, metricsShape} from './answer-shape.js';
import type {ApiCase} from './api-cases.js';
import type {ServerAnswer} from './kubelet-client.js';
import {startKubeletServer} from './kubelet-server.js';

/** Number of characters of a plain text that recordings have. */
const TEXT_LENGTH = 400;

/**
 * Sends the recorded requests of the API server to the kubelet's server, as for commands of kubectl, and returns them with
 * their answers. Containers whose standard input is open once exit after it.
 */
export async function sendServerRequests(
  testbed: ClusterTestbed,
  {server = [], run}: Pick<ApiCase, 'server' | 'run'>,
): Promise<readonly (readonly unknown[])[]> {
  await using kubelet = await startKubeletServer(testbed);
  const input = run.actions?.find(([, verb]) => verb === 'kubectl-in')?.[2] as string | undefined;
  const answers: (readonly unknown[])[] = [];
  for (const [method, path, upgrade, offered] of server as readonly (readonly string[])[]) {
    const request = {method: method ?? '', upgrade: upgrade ?? '', offered: offered ?? '', input};
    const answer = await kubelet.send({...request, target: encodeQuery(path ?? '')});
    const shape = shapeOfAnswer(path ?? '', answer);
    answers.push([method, path, upgrade, offered, answer.protocol, answer.code, ...shape]);
    exitAttached(testbed);
  }
  return answers;
}

/** Returns a path with its query as it is sent; recordings have it decoded. */
function encodeQuery(path: string): string {
  const [before = '', query] = path.split(/\?(.*)/s);
  if (query === undefined) return before;
  const pairs = query.split(/&(?=\w+=)/).map((pair): [string, string] => {
    const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(pair) ?? [];
    return [name, value.replaceAll('+', ' ')];
  });
  return `${before}?${new URLSearchParams(pairs).toString()}`;
}

function shapeOfAnswer(path: string, {body, code}: ServerAnswer): readonly unknown[] {
  if (path.includes('/metrics'))
    return code === 200
      ? [path.includes('cadvisor') ? 'cadvisor' : metricsShape(body)]
      : [body.slice(0, TEXT_LENGTH)];
  if (/^[[{]/.test(body)) return [jsonShape(JSON.parse(body))];
  return body === '' || path.includes('/containerLogs') ? [] : [body.slice(0, TEXT_LENGTH)];
}

/** Ends the first process of containers that read their standard input to its end. */
function exitAttached({daemon}: ClusterTestbed): void {
  const isAttached = daemon.fake.callsTo('Attach').length > 0;
  for (const {id, config, state} of daemon.ownContainers)
    if (isAttached && config.stdinOnce && state === 'CONTAINER_RUNNING') daemon.fake.exitContainer(id, 0);
}

/** Runs a session of the runtime: it ends with the standard input, if that is open, or at once. */
export async function endSession(session: ServerSession): Promise<void> {
  const stdin = session.streams.get('stdin');
  await stdin?.waitUntil((_text, {isEnded}) => isEnded);
  if (session.streams.has('error')) session.sendExitCode(0);
  else session.end();
}
