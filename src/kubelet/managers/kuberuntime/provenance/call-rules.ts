import {containersOf, findContainer} from '../../../../api/pod-containers.js';
import type {Container} from '../../../../api/types/v1-pod.js';
import type {Json} from '../../../../format/json.js';
import {CONTAINER_CONFIG} from './container-rules.js';
import {because, type Named, type Provenance} from './provenance.js';
import {CONTAINER_RESOURCES, OVERHEAD_RESOURCES, SANDBOX_RESOURCES} from './resource-rules.js';
import {explainLeaves, type ExplainedField, type RuleTree} from './rule-tree.js';
import {annotation, SANDBOX_CONFIG} from './sandbox-rules.js';
import {ContainerScope, PodScope, type ExplainedFacts} from './scope.js';

/** Call of the runtime as proto JSON, with the names of the .proto file. */
export interface ExplainedCall {
  readonly method: string;
  readonly request: Json;
  /** Name of the container that it concerns. */
  readonly container: string | undefined;
}

/** Returns all fields of a call that have a rule, with their inputs. The sandbox config of a CreateContainer counts as one. */
export function explainCallFields(
  {method, request, container}: ExplainedCall,
  facts: ExplainedFacts,
): readonly ExplainedField[] {
  const found = container === undefined ? undefined : findContainer(facts.pod, container);
  return found === undefined
    ? explainLeaves(request, POD_CALLS[method] ?? {}, new PodScope(facts))
    : explainLeaves(request, CONTAINER_CALLS[method] ?? {}, new ContainerScope(facts, found));
}

/** Returns the inputs of the config of a sandbox, or of a container. */
export function explainConfig(
  config: Json,
  facts: ExplainedFacts,
  container?: Container,
): readonly ExplainedField[] {
  return container === undefined
    ? explainLeaves(config, SANDBOX_CONFIG, new PodScope(facts))
    : explainLeaves(config, CONTAINER_CONFIG, new ContainerScope(facts, container));
}

const SANDBOX_ID = (scope: PodScope): Provenance =>
  because`${scope.run('ID of the sandbox')}, from RunPodSandbox`;
const CONTAINER_ID = (scope: PodScope): Provenance =>
  because`${scope.run('ID of the container')}, from CreateContainer`;

/** Calls about a container that the pod may no longer have. */
const EXISTING_CONTAINER: RuleTree<PodScope> = {
  container_id: CONTAINER_ID,
  timeout: (scope) => gracePeriod(scope),
};

const POD_CALLS: Readonly<Record<string, RuleTree<PodScope>>> = {
  RunPodSandbox: {
    config: SANDBOX_CONFIG,
    runtime_handler: (scope) =>
      because`handler of the RuntimeClass: ${scope.field('spec', 'runtimeClassName')}`,
  },
  StopPodSandbox: {pod_sandbox_id: SANDBOX_ID},
  RemovePodSandbox: {pod_sandbox_id: SANDBOX_ID},
  StopContainer: EXISTING_CONTAINER,
  RemoveContainer: EXISTING_CONTAINER,
  PullImage: {
    image: {
      image: (scope, {value}) => pulledImage(scope, value),
      user_specified_image: (scope, {value}) => pulledImage(scope, value),
      annotations: (scope, {below: [key]}) => annotation(scope, String(key)),
      runtime_handler: (scope) => because`${scope.field('spec', 'runtimeClassName')}`,
    },
    auth: (scope) =>
      because`${scope.field('spec', 'imagePullSecrets')} or ${scope.setting('imageCredentialProviderConfig')}`,
    sandbox_config: SANDBOX_CONFIG,
  },
  UpdatePodSandboxResources: {
    pod_sandbox_id: SANDBOX_ID,
    overhead: OVERHEAD_RESOURCES,
    resources: SANDBOX_RESOURCES,
  },
};

const CONTAINER_CALLS: Readonly<Record<string, RuleTree<ContainerScope>>> = {
  CreateContainer: {
    pod_sandbox_id: SANDBOX_ID,
    config: CONTAINER_CONFIG,
    sandbox_config: SANDBOX_CONFIG,
  },
  StartContainer: {container_id: CONTAINER_ID},
  RemoveContainer: {container_id: CONTAINER_ID},
  StopContainer: {container_id: CONTAINER_ID, timeout: (scope) => gracePeriod(scope)},
  ReopenContainerLog: {container_id: CONTAINER_ID},
  CheckpointContainer: {
    container_id: CONTAINER_ID,
    location: (scope) =>
      because`checkpoints/ below ${scope.setting('--root-dir', scope.node.rootDir)}, ${scope.identity()}, ${scope.own('name')}`,
    timeout: (scope) => because`${scope.run('timeout of the request')}`,
  },
  UpdateContainerResources: {container_id: CONTAINER_ID, linux: CONTAINER_RESOURCES},
  ExecSync: {
    container_id: CONTAINER_ID,
    cmd: (scope, {value}) => command(scope, value),
    timeout: (scope) => commandTimeout(scope),
  },
};

/** Names the grace period of a pod, from which the time of preStop hooks is subtracted. */
function gracePeriod(scope: PodScope): Provenance {
  const deletion = scope.field('metadata', 'deletionGracePeriodSeconds');
  const field =
    deletion.source.value === undefined ? scope.field('spec', 'terminationGracePeriodSeconds') : deletion;
  const {container} = scope as Partial<ContainerScope>;
  const hook = container?.lifecycle?.preStop === undefined ? '' : ', without the time of the preStop hook';
  return because`${field}${hook}`;
}

/** Names the containers or the volume that an image is pulled for. */
function pulledImage(scope: PodScope, image: Json): Provenance {
  const volume = (scope.pod.spec.volumes ?? []).findIndex((each) => each.image?.reference === image);
  const [first] = containersOf(scope.pod).filter((each) => each.image === image);
  if (first === undefined && volume !== -1)
    return because`${scope.field('spec', 'volumes', volume, 'image', 'reference')}`;
  const uses: readonly Named[] = scope.ofContainers('image').filter(({source}) => source.value === image);
  return uses.length === 0
    ? because`the image of a container: ${scope.ofContainers('image')}`
    : because`image of ${uses.map((use) => ({...use, text: use.text.replace(/ .*/, '')}))}`;
}

/** Handlers that run a command in a container. */
const HANDLERS = [
  ['lifecycle', 'postStart'],
  ['lifecycle', 'preStop'],
  ['startupProbe'],
  ['readinessProbe'],
  ['livenessProbe'],
] as const;

function command(scope: ContainerScope, value: Json): Provenance {
  const text = JSON.stringify(value);
  const handler = HANDLERS.map((path) => scope.own(...path, 'exec', 'command')).find(
    ({source}) => JSON.stringify(source.value) === text,
  );
  return because`${handler ?? scope.rule("no handler of the container: a request to the kubelet's API")}`;
}

function commandTimeout(scope: ContainerScope): Provenance {
  const probes = (['startupProbe', 'readinessProbe', 'livenessProbe'] as const)
    .map((probe) => scope.own(probe, 'timeoutSeconds'))
    .filter(({source}) => source.value !== undefined);
  return probes.length === 0
    ? because`${scope.rule('hooks have no timeout of their own')}`
    : because`${probes}`;
}
