import {CriError, type RuntimeStatus} from '../../cri/index.js';
import type {KubeletReport} from '../../kubelet/index.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import {RUNTIME_ADVICE, type Finding} from './finding.js';

/** State of the node apart from its pods. */
export interface NodeState {
  readonly name: string;
  readonly findings: readonly Finding[];
}

/** Facts about the node. */
export interface NodeFindingsInput {
  /** Conditions of the runtime, or the error of the call. */
  readonly runtime: RuntimeStatus | CriError | undefined;
  readonly report: KubeletReport | undefined;
}

/**
 * Reads the state of the node: its runtime, unless a call to it has failed, and the running kubelet. Rejects with
 * ConfigError without a runtime.
 */
export async function readNodeState(
  {connections, signal}: RuntimeContext,
  name: string,
  {report, failure}: {readonly report: KubeletReport | undefined; readonly failure: CriError | undefined},
): Promise<NodeState> {
  if (failure !== undefined) return {name, findings: findNodeProblems({runtime: failure, report})};
  const {runtime} = await connections.default();
  const status = await runtime.status({}, {signal}).then(
    (response) => response.status,
    (error: unknown) => {
      signal.throwIfAborted();
      if (!(error instanceof CriError)) throw error;
      return error;
    },
  );
  return {name, findings: findNodeProblems({runtime: status, report})};
}

/** Returns what is wrong with the runtime and the kubelet of a node. Pure. */
export function findNodeProblems({runtime, report}: NodeFindingsInput): readonly Finding[] {
  const problem = (rule: string, cause: string, tries: Finding['tries']): Finding => ({
    rule,
    severity: 'problem',
    cause,
    evidence: [],
    tries,
  });
  const conditions = runtime instanceof CriError ? [] : (runtime?.conditions ?? []);
  return [
    ...(runtime instanceof CriError
      ? [
          problem(
            'runtime-unavailable',
            `the runtime is unavailable: ${runtime.plainMessage}`,
            RUNTIME_ADVICE,
          ),
        ]
      : []),
    ...conditions
      .filter(({type, status}) => !status && /^(Runtime|Network)Ready$/.test(type))
      .map(({type, reason, message}) =>
        problem(
          type === 'NetworkReady' ? 'cni-not-ready' : 'runtime-not-ready',
          `${type} is false: ${[reason, message].filter((text) => text !== '').join(': ')}`,
          type === 'NetworkReady' ? ['ls /etc/cni/net.d /opt/cni/bin'] : [{kcri: ['info']}],
        ),
      ),
    ...(report?.errors ?? []).map((error) =>
      problem('kubelet-cannot-sync', `the kubelet cannot sync pods: ${error}`, [{kcri: ['get', 'kubelet']}]),
    ),
    ...(report?.pressures ?? []).map((pressure) =>
      problem('node-pressure', `the node is under ${pressure}`, [{kcri: ['describe', 'node']}]),
    ),
    ...(report?.manifestProblems ?? [])
      .filter(({level}) => level === 'error')
      .map(({place, message}) => problem('manifest-invalid', `${place}: ${message}`, [`correct ${place}`])),
  ];
}
