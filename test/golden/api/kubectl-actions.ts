import type {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import {applyMergePatch} from '../../fakes/api-server/merge-patch.js';
import type {StoredObject} from '../../fakes/api-server/object-storage.js';

interface Container {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** Changes pods as the API server does for a command of kubectl; commands that only print do nothing. */
export function kubectl(api: FakeApiServer, command: string, input = '{}'): void {
  const [, verb = '', name = '', rest = ''] = COMMAND.exec(command) ?? [];
  const pod = api.pod(name);
  if (pod === undefined) return;
  const [key = '', value = ''] = rest.split('=');
  VERBS[verb]?.({api, pod, key, value, input});
}

const COMMAND = /^(set image|label|annotate|patch)(?: pod)?[ /](\S+) (.*)$/;

interface Change {
  readonly api: FakeApiServer;
  readonly pod: StoredObject;
  readonly key: string;
  readonly value: string;
  readonly input: string;
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
