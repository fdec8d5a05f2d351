import {isSystemCallError, unlessRoot} from '../../base/errors.js';
import type {RuntimeService} from '../../cri/index.js';
import {fetchContainerDetails} from '../../operations/inspect/fetch-details.js';
import {processesOf, readProcesses, type ProcessFacts} from '../../operations/processes/read-processes.js';
import type {ConnectionContext, SignalContext} from '../../cli/command/contexts.js';
import {CONTAINER_STATES} from '../lists/container-table.js';
import type {PodManagerName} from '../pods/pod-selection-flags.js';
import type {LifecycleTarget} from '../targets/find-targets.js';

/** Process of a container or sandbox, with those that it started. */
export interface ProcessNode {
  readonly pid: number;
  readonly user: string;
  readonly command: string;
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly children: readonly ProcessNode[];
}

/** Container with its processes. */
export interface ContainerNode {
  readonly id: string;
  readonly name: string;
  readonly attempt: number;
  /** State such as `Running`. */
  readonly state: string;
  readonly exitCode?: number;
  readonly processes: readonly ProcessNode[];
}

/** Sandbox of a pod with its containers. */
export interface SandboxNode {
  readonly id: string;
  /** `Ready` or `NotReady`. */
  readonly state: string;
  readonly processes: readonly ProcessNode[];
  readonly containers: readonly ContainerNode[];
}

/** Pod with its sandboxes. */
export interface PodNode {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly manager: PodManagerName;
  readonly sandboxes: readonly SandboxNode[];
}

/** Pods and what runs in them. */
export interface Tree {
  readonly pods: readonly PodNode[];
  /** Notes on what is missing, for people. */
  readonly notes: readonly string[];
}

/** Reads the sandboxes, containers and processes of targets. Rejects with CriError. */
export async function readTree(
  {connections, signal}: ConnectionContext & SignalContext,
  targets: readonly LifecycleTarget[],
): Promise<Tree> {
  const pods = [...new Set(targets.map(({listed}) => listed))];
  const found = pods.flatMap(({inRuntime}) => inRuntime ?? []);
  if (found.length === 0) return {pods: pods.map((pod) => podNode(pod, [])), notes: []};
  const {runtime} = await connections.default();
  const details = await readDetails(runtime, found, signal);
  const processes = await readOwnProcesses();
  const users = await readUsers();
  const treeOf = (id: string): readonly ProcessNode[] => buildTree(processesOf(processes.found, id), users);
  const nodes = pods.map((pod) => {
    const names = targets.flatMap((target) =>
      target.kind === 'container' && target.listed === pod ? [target.name] : [],
    );
    const isWhole = targets.some((target) => target.kind === 'pod' && target.listed === pod);
    const {sandboxes = [], containers = []} = pod.inRuntime ?? {};
    return podNode(
      pod,
      sandboxes.map(({id, state}) => ({
        id,
        state: state === 'SANDBOX_READY' ? 'Ready' : 'NotReady',
        processes: treeOf(id),
        containers: containers
          .filter(
            ({podSandboxId, metadata}) =>
              podSandboxId === id && (isWhole || names.includes(metadata?.name ?? '')),
          )
          .toReversed()
          .map((container) => {
            const {exitCode} = details.get(container.id) ?? {};
            return {
              id: container.id,
              name: container.metadata?.name ?? '',
              attempt: container.metadata?.attempt ?? 0,
              state: CONTAINER_STATES[container.state],
              ...(exitCode !== undefined && {exitCode}),
              processes: treeOf(container.id),
            };
          }),
      })),
    );
  });
  return {pods: nodes, notes: notesOf(nodes, processes.failure)};
}

type Listed = LifecycleTarget['listed'];
type InRuntime = NonNullable<Listed['inRuntime']>;

function podNode({namespace, name, uid, manager}: Listed, sandboxes: readonly SandboxNode[]): PodNode {
  return {namespace, name, uid, manager, sandboxes};
}

async function readDetails(runtime: RuntimeService, pods: readonly InRuntime[], signal: AbortSignal) {
  const exited = pods.flatMap(({containers}) => containers).filter(({state}) => state === 'CONTAINER_EXITED');
  return (await fetchContainerDetails(runtime, exited, signal)).byId;
}

async function readOwnProcesses(): Promise<{
  readonly found: readonly ProcessFacts[];
  readonly failure: string | undefined;
}> {
  try {
    return {found: await readProcesses(), failure: undefined};
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    return {found: [], failure: (error as Error).message};
  }
}

/** Returns the names of this machine's users by UID; empty if they cannot be read. */
async function readUsers(): Promise<ReadonlyMap<number, string>> {
  const {readFile} = await import('node:fs/promises');
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return new Map(
    text.split('\n').flatMap((line) => {
      const [name, , uid] = line.split(':');
      return name === undefined || uid === undefined ? [] : [[Number(uid), name] as const];
    }),
  );
}

/** Returns processes below those that started them. */
function buildTree(
  processes: readonly ProcessFacts[],
  users: ReadonlyMap<number, string>,
): readonly ProcessNode[] {
  const pids = new Set(processes.map(({pid}) => pid));
  const nodeOf = ({pid, uid, command, cpuMs, memoryBytes}: ProcessFacts): ProcessNode => ({
    pid,
    user: users.get(uid) ?? String(uid),
    command,
    cpuMs,
    memoryBytes,
    children: processes.filter(({parentPid}) => parentPid === pid).map(nodeOf),
  });
  return processes.filter(({parentPid, pid}) => !pids.has(parentPid) || parentPid === pid).map(nodeOf);
}

/** Returns why processes of running containers are missing. */
function notesOf(pods: readonly PodNode[], failure: string | undefined): readonly string[] {
  const running = pods
    .flatMap(({sandboxes}) => sandboxes)
    .flatMap(({containers}) => containers)
    .filter(({state}) => state === 'Running');
  const hidden = running.filter(({processes}) => processes.length === 0);
  if (hidden.length === 0) return [];
  const reason =
    failure ??
    `they run on another machine or in another PID namespace${unlessRoot(', or only root may see them', '')}`;
  return [`processes of ${hidden.length} of ${running.length} running containers are not visible: ${reason}`];
}
