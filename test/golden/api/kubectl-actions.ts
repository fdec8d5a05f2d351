import type {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import {applyMergePatch} from '../../fakes/api-server/merge-patch.js';
import type {StoredObject} from '../../fakes/api-server/object-storage.js';
import {deleteNode, patchNode, taintNode} from './node-actions.js';

interface Container {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** Changes objects as the API server does for a command of kubectl; commands that only print do nothing. */
export function kubectl(api: FakeApiServer, command: string, input = '{}'): void {
  const found = NODE_VERBS.find(([pattern]) => pattern.test(command));
  if (found === undefined) changePod(api, command, input);
  else {
    const [pattern, act] = found;
    const [, name = '', argument = ''] = pattern.exec(command) ?? [];
    act(api, name, argument);
  }
}

function changePod(api: FakeApiServer, command: string, input: string): void {
  const [, verb = '', name = '', rest = ''] = COMMAND.exec(command) ?? [];
  const pod = api.pod(name);
  if (pod === undefined) return;
  const [key = '', value = ''] = rest.split('=');
  VERBS[verb]?.({api, pod, key, value, input, rest});
}

type NodeVerb = (api: FakeApiServer, name: string, argument: string) => void;

const NODE_VERBS: readonly (readonly [pattern: RegExp, act: NodeVerb])[] = [
  [/^delete node (\S+)/, deleteNode],
  [
    /^cordon (\S+)/,
    (api, name) => {
      patchNode(api, name, {spec: {unschedulable: true}});
    },
  ],
  [
    /^uncordon (\S+)/,
    (api, name) => {
      patchNode(api, name, {spec: {unschedulable: null}});
    },
  ],
  [
    /^annotate node (\S+) (\S+)/,
    (api, name, argument) => {
      const [key = '', value = ''] = argument.split('=');
      patchNode(api, name, {metadata: {annotations: {[key]: value}}});
    },
  ],
  [/^taint node (\S+) (\S+)/, taintNode],
];

const COMMAND = /^(set image|label|annotate|patch|delete|debug)(?: pod)?[ /](\S+) (.*)$/;

interface Change {
  readonly api: FakeApiServer;
  readonly pod: StoredObject;
  readonly key: string;
  readonly value: string;
  readonly input: string;
  /** Arguments after the name. */
  readonly rest: string;
}

const VERBS: Readonly<Record<string, (change: Change) => void>> = {
  label: ({api, pod, key, value}) => {
    store(api, pod, {metadata: {labels: {[key]: value}}});
  },
  annotate: ({api, pod, key, value}) => {
    store(api, pod, {metadata: {annotations: {[key]: value}}});
  },
  'set image': ({api, pod, key, value}) => {
    changeContainers(api, pod, [{name: key, image: value}]);
  },
  delete: ({api, pod}) => {
    api.deletePod(pod.metadata.name);
  },
  debug: ({api, pod, rest}) => {
    addEphemeralContainer(api, pod, rest);
  },
  patch: ({api, pod, input}) => {
    const patch = JSON.parse(input) as {
      readonly spec?: {readonly containers: readonly Container[]};
      readonly [field: string]: unknown;
    };
    if (patch.spec === undefined) store(api, pod, patch);
    else if (!patch.spec.containers.some(exceedsNode)) changeContainers(api, pod, patch.spec.containers);
  },
};

function store(api: FakeApiServer, pod: StoredObject, patch: Readonly<Record<string, unknown>>): void {
  const path = `/api/v1/namespaces/default/pods/${pod.metadata.name}`;
  api.storage.put(path, applyMergePatch(pod, patch) as StoredObject);
}

/** Adds the container of `kubectl debug` and raises the generation. */
function addEphemeralContainer(api: FakeApiServer, pod: StoredObject, options: string): void {
  const [, image] = /--image=(\S+)/.exec(options) ?? [];
  const [, targetContainerName] = /--target=(\S+)/.exec(options) ?? [];
  const [, name] = / -c (\S+)/.exec(options) ?? [];
  const [, script] = / -- sh -c "(.*)"$/.exec(options) ?? [];
  const container = {
    ...{name, image, targetContainerName, command: ['sh', '-c', script], resources: {}},
    imagePullPolicy: 'IfNotPresent',
    // Of the profile "general".
    securityContext: {capabilities: {add: ['SYS_PTRACE']}},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  };
  const generation = (pod.metadata.generation ?? 0) + 1;
  store(api, pod, {spec: {ephemeralContainers: [container]}, metadata: {generation}});
}

/** Reports whether the API server refuses these resources, which are more than the node has. */
function exceedsNode({resources}: Container): boolean {
  const {requests} = (resources ?? {}) as {readonly requests?: {readonly cpu?: string}};
  return /^\d+$/.test(requests?.cpu ?? '') && Number(requests?.cpu) > NODE_CPUS;
}

const NODE_CPUS = 2;

/** Changes containers; a change of the spec raises the generation. */
function changeContainers(api: FakeApiServer, pod: StoredObject, changes: readonly Container[]): void {
  const {containers} = pod['spec'] as {readonly containers: readonly Container[]};
  const changed = containers.map((container) => ({
    ...container,
    ...changes.find(({name}) => name === container.name),
  }));
  const generation = (pod.metadata.generation ?? 0) + 1;
  store(api, pod, {spec: {containers: changed}, metadata: {generation}});
}
