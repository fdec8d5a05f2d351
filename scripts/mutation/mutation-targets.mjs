/**
 * Targets of `npm run mutate`: files that decide, and the tests that must detect a fault in them. Property tests are
 * excluded, since a rule should be covered by a test that fails on every run.
 *
 * `equivalent` lists mutants without an effect: `in` is a part of their line, `to` their replacement.
 */
const ACTIONS = [
  'managers/kuberuntime/compute/compute-pod-actions',
  'managers/kuberuntime/compute/compute-edges',
  'managers/kuberuntime/compute/compute-restarts',
];
const CONDITIONS = [
  'pods/status/compute/pod-conditions',
  'pods/status/compute/restart-and-initialized-conditions',
  'pods/status/compute/readiness-gates',
  'pods/status/compute/pod-status',
];
const STATUS = ['pods/status/compute/pod-status', 'pods/status/compute/golden-status'];
const KILL = ['managers/kuberuntime/actions/kill-pod', 'managers/kuberuntime/actions/kill-failures'];
const ADMISSION = ['pods/admission/admit-pod', 'pods/admission/admit-pod-edge-cases'];

const UNIQUE = 'names of containers and types of conditions are unique';

const target = (name, tests, equivalent = []) => ({
  file: `src/kubelet/${name}.ts`,
  tests: tests.map((test) => `test/kubelet/${test}.test.ts`),
  equivalent,
});

export const TARGETS = [
  target('managers/kuberuntime/compute/compute-pod-actions', ACTIONS),
  target('managers/kuberuntime/compute/compute-init-actions', ACTIONS),
  target('managers/kuberuntime/compute/restart-all-containers', [
    ...ACTIONS,
    'pods/status/compute/restart-and-initialized-conditions',
    'pods/status/compute/restart-all-status',
  ]),
  target('managers/kuberuntime/compute/container-kill-reason', ACTIONS),
  target('managers/kuberuntime/compute/sandbox-changed', ACTIONS),
  target('managers/kuberuntime/compute/restart-policy', [...ACTIONS, 'pods/status/compute/pod-status']),
  target(
    'managers/kuberuntime/actions/grace-period',
    ['managers/kuberuntime/actions/grace-period'],
    [
      {in: 'terminationGracePeriodSeconds ?? 0', to: '1', why: 'the minimum is one second in any case'},
      {in: 'terminationGracePeriodSeconds ?? 0', to: '-1', why: 'the minimum is one second in any case'},
    ],
  ),
  target('managers/kuberuntime/actions/termination-order', KILL, [
    {
      in: 'names.flatMap(',
      to: 'this.#running.get(each)?.happened',
      why: 'waiting for nothing equals not waiting',
    },
  ]),
  target('managers/kuberuntime/actions/kill-pod', KILL),
  target('managers/kuberuntime/actions/kill-container', KILL, [
    {in: '.find((container) => container.name === name)', to: 'findLast', why: UNIQUE},
    {
      in: 'signal.throwIfAborted();',
      to: '{}',
      why: 'an aborted kill rejects with the reason before its hook does',
    },
    {in: "'outlasted its container'", to: "''", why: 'the failure of a hook is not reported'},
  ]),
  target(
    'managers/kuberuntime/actions/crash-loop-back-off',
    ['managers/kuberuntime/actions/crash-loop-back-off'],
    [
      {in: 'container.resources ?? {}', to: 'container.resources', why: 'undefined has a unique text too'},
      {in: ".join('/')", to: "''", why: 'the UID and the position already distinguish pods'},
    ],
  ),
  target('foreground/evaluate-wait', ['foreground/evaluate-wait']),
  target(
    'pods/status/compute/pod-phase',
    ['pods/status/compute/pod-phase'],
    [
      {in: 'all.find(', to: 'findLast', why: UNIQUE},
      {
        in: 'initContainers',
        to: 'initContainers',
        why: 'init containers have completed by then, or the pod is Pending anyway',
      },
    ],
  ),
  target('pods/status/compute/pod-conditions', CONDITIONS, [
    {in: 'input.previous.find(', to: 'findLast', why: UNIQUE},
    {in: 'statuses.find(', to: 'findLast', why: UNIQUE},
  ]),
  target('pods/status/compute/container-status', [
    ...STATUS,
    'pods/status/compute/previous-status',
    'pods/status/compute/restart-all-status',
  ]),
  target(
    'pods/status/compute/container-resources',
    ['pods/status/compute/container-resources'],
    [
      {in: 'cpuPeriod > 0n', to: '1n', why: 'no period is that short'},
      {in: 'cpuPeriod > 0n', to: '-1n', why: 'neither is a quota'},
      {in: 'nanos > 0n', to: '1n', why: 'amounts are multiples of 10⁹ here'},
      {in: 'cpuShares < MIN_CPU_SHARES', to: '-1n', why: 'neither is an amount of CPU'},
      {in: 'cpuShares < MIN_CPU_SHARES', to: '1022n', why: 'a multiple of 8 is left of 1024 shares'},
    ],
  ),
  target('pods/status/compute/pod-status', STATUS),
  target('pods/status/read-termination-messages', ['pods/status/read-termination-messages']),
  target('pods/admission/admit-pod', ADMISSION, [
    {in: 'const short = isCriticalPod(pod)', to: 'true', why: 'other pods were rejected by admitResources'},
  ]),
  target('pods/admission/node-affinity', ADMISSION, [
    {in: "value = ''", to: "'other'", why: 'neither is a number'},
    {in: "[wanted = '']", to: "'other'", why: 'neither is a number'},
  ]),
  target('pods/admission/node-capacity', ADMISSION, [
    {in: '.filter(({hostPort = 0}) => hostPort > 0)', to: '-1', why: 'no port is less than 0'},
  ]),
  target('pods/admission/sysctl-allowlist', ADMISSION, [
    {in: "', '0'],", to: "''", why: 'an empty string is converted to 0 too'},
    {in: "?? '0').split", to: "''", why: 'an empty string is converted to 0 too'},
    {in: '= numbers(', to: '1', why: 'no version in the table starts with 0 or ends with .0'},
    {in: '= numbers(', to: '-1', why: 'no version in the table starts with 0 or ends with .0'},
    {in: 'allowed.find(', to: 'findLast', why: 'all entries of a name have the same namespace'},
  ]),
];
