import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {Container, Pod} from '../../../../../src/api/types/v1-pod.js';
import type {PodActions} from '../../../../../src/kubelet/contract/pod-actions.js';
import type {
  RuntimeContainerStatus,
  RuntimePodStatus,
} from '../../../../../src/kubelet/contract/runtime-pod-status.js';
import {computePodActions} from '../../../../../src/kubelet/managers/kuberuntime/compute/compute-pod-actions.js';
import {aContainer, aPod} from '../../../../fakes/a-pod.js';
import {anInstance, aRuntimePod, aSandboxStatus} from '../../../../fakes/a-runtime-pod.js';

const STATES = ['CONTAINER_CREATED', 'CONTAINER_RUNNING', 'CONTAINER_EXITED', 'CONTAINER_UNKNOWN'] as const;

const initContainer = fc.record({sidecar: fc.boolean()});
/** Generates no container policy, or a restart rule for the exit code 1. */
const containerPolicies = fc.constantFrom<Partial<Container>[]>(
  {},
  ...(['Restart', 'RestartAllContainers'] as const).map((action) => ({
    restartPolicy: 'Never' as const,
    restartPolicyRules: [{action, exitCodes: {operator: 'In' as const, values: [1]}}],
  })),
);
const pods = fc
  .record({
    restartPolicy: fc.constantFrom('Always', 'OnFailure', 'Never'),
    init: fc.array(initContainer, {maxLength: 3}),
    containers: fc.array(containerPolicies, {minLength: 1, maxLength: 3}),
    hostNetwork: fc.boolean(),
  })
  .map(({restartPolicy, init, containers, hostNetwork}) =>
    aPod({
      restartPolicy,
      hostNetwork,
      initContainers: init.map(({sidecar}, index) =>
        aContainer({name: `i${index}`, ...(sidecar && {restartPolicy: 'Always'})}),
      ),
      containers: containers.map((own, index) => aContainer({name: `c${index}`, ...own})),
    }),
  );

const instance = fc.option(
  fc.record({
    state: fc.constantFrom(...STATES),
    exitCode: fc.constantFrom(0, 1),
    imageName: fc.constantFrom('busybox:1', 'busybox:0'),
  }),
);
const sandboxes = fc.array(fc.constantFrom('SANDBOX_READY', 'SANDBOX_NOTREADY'), {maxLength: 3});

/** Generates a pod and a runtime status that it may have. */
const podsWithStatus = pods.chain((pod) =>
  fc.record({
    pod: fc.constant(pod),
    status: fc
      .tuple(fc.array(instance, {minLength: 6, maxLength: 6}), sandboxes)
      .map(([initialStatus, states]) => {
        const containers = allContainers(pod).flatMap(({name}, index) => {
          const fields = initialStatus[index];
          return fields == null ? [] : [anInstance(name, fields.state, fields)];
        });
        const attempts = states.map((state, index) =>
          aSandboxStatus({state, attempt: states.length - index - 1}),
        );
        return aRuntimePod(containers, {sandboxes: attempts});
      }),
  }),
);

function allContainers({spec}: Pod): readonly Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}

function isInit(pod: Pod, name: string): boolean {
  return pod.spec.initContainers?.some((container) => container.name === name) ?? false;
}

/** Returns the runtime status after the actions. */
function applyActions(pod: Pod, status: RuntimePodStatus, actions: PodActions): RuntimePodStatus {
  const killed = new Set(actions.containersToKill.map(({id}) => id));
  // When the whole pod is killed, containers to reset are removed by the next sync.
  const removed = new Set(actions.killPod ? [] : actions.containersToReset.map(({instance}) => instance.id));
  const isLive = ({state}: RuntimeContainerStatus): boolean => state === 'CONTAINER_RUNNING';
  const after = status.containers
    .filter(({id, name}) => !removed.has(id) && !(actions.createSandbox && isInit(pod, name)))
    .map((container) =>
      killed.has(container.id) || (actions.killPod && isLive(container))
        ? stopped(container, 137)
        : container,
    );
  const started = [...actions.initContainersToStart, ...actions.containersToStart].map(({name}) => {
    const instances = status.containers.filter((container) => container.name === name).length;
    return anInstance(name, 'CONTAINER_RUNNING', {restartCount: instances + 1});
  });
  const old = actions.killPod
    ? status.sandboxes.map((sandbox) => ({...sandbox, state: 'SANDBOX_NOTREADY' as const}))
    : status.sandboxes;
  const network = pod.spec.hostNetwork === true ? ('NODE' as const) : ('POD' as const);
  const options = {network, pid: 'CONTAINER', ipc: 'POD', targetId: ''} as const;
  const created = aSandboxStatus({attempt: actions.attempt, linux: {namespaces: {options}}});
  return aRuntimePod([...started, ...after], {sandboxes: actions.createSandbox ? [created, ...old] : old});
}

function stopped(container: RuntimeContainerStatus, exitCode: number): RuntimeContainerStatus {
  return {...container, state: 'CONTAINER_EXITED', cri: {...container.cri, exitCode}};
}

/** Marks running init containers other than sidecars as succeeded. */
function initContainersSucceed(pod: Pod, status: RuntimePodStatus): RuntimePodStatus {
  const ends = pod.spec.initContainers?.filter(({restartPolicy}) => restartPolicy === undefined) ?? [];
  const containers = status.containers.map((container) =>
    ends.some(({name}) => name === container.name) && container.state === 'CONTAINER_RUNNING'
      ? stopped(container, 0)
      : container,
  );
  return {...status, containers};
}

test('equal inputs give equal actions', () => {
  fc.assert(
    fc.property(podsWithStatus, ({pod, status}) => {
      expect(computePodActions(pod, structuredClone(status))).toEqual(computePodActions(pod, status));
    }),
  );
});

test('a container is only started if it is not running or is killed first', () => {
  fc.assert(
    fc.property(podsWithStatus, ({pod, status}) => {
      const actions = computePodActions(pod, status);
      const killed = new Set(actions.containersToKill.map(({name}) => name));
      const running = status.containers.filter(({state}) => state === 'CONTAINER_RUNNING');

      const startedTwice = [...actions.initContainersToStart, ...actions.containersToStart].filter(
        ({name}) =>
          running.some((container) => container.name === name) && !killed.has(name) && !actions.killPod,
      );

      expect(startedTwice).toEqual([]);
    }),
  );
});

/** Applies the computed actions until there are none or the pod has ended. */
function settle(
  pod: Pod,
  initialStatus: RuntimePodStatus,
): {readonly status: RuntimePodStatus; readonly last: PodActions} {
  let status = initialStatus;
  let last = computePodActions(pod, status);
  for (let pass = 0; pass < 20 && !isFinished(last); pass++) {
    status = initContainersSucceed(pod, applyActions(pod, status, last));
    last = computePodActions(pod, status);
  }
  return {status: applyActions(pod, status, last), last};
}

const isFinished = ({killPod, createSandbox}: PodActions): boolean => killPod && !createSandbox;

test('applying the actions repeatedly ends without further actions or with a killed pod', () => {
  fc.assert(
    fc.property(podsWithStatus, ({pod, status: initialStatus}) => {
      const {status, last} = settle(pod, initialStatus);

      if (isFinished(last))
        expect(status.containers.filter(({state}) => state === 'CONTAINER_RUNNING')).toEqual([]);
      else
        expect({...last, sandboxId: undefined, attempt: 0}).toEqual({
          killPod: false,
          createSandbox: false,
          sandboxId: undefined,
          attempt: 0,
          ephemeralContainersToStart: [],
          initContainersToStart: [],
          containersToStart: [],
          containersToKill: [],
          containersToReset: [],
        });
    }),
    {numRuns: 500},
  );
});
