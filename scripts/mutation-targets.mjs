/**
 * What `npm run mutate` tries: the files that decide, and the tests that have to notice a fault in each. Property tests
 * are left out: a rule is to be stated by a test that fails every time.
 *
 * `equivalent` names the faults that change nothing: `in` is part of their line, `to` what they put there.
 */
const ACTIONS = [
  'kuberuntime/compute-pod-actions',
  'kuberuntime/compute-edges',
  'kuberuntime/compute-restarts',
];
const CONDITIONS = [
  'status/pod-conditions',
  'status/conditions',
  'status/readiness-gates',
  'status/pod-status',
];
const STATUS = ['status/pod-status', 'status/golden-status'];
const KILL = ['kuberuntime/kill-pod', 'kuberuntime/kill-failures'];
const ADMISSION = ['admission/admit-pod', 'admission/admit-edges'];

const UNIQUE = 'names of containers and types of conditions are unique';

const target = (name, tests, equivalent = []) => ({
  file: `src/kubelet/${name}.ts`,
  tests: tests.map((test) => `test/kubelet/${test}.test.ts`),
  equivalent,
});

export const TARGETS = [
  target('kuberuntime/compute-pod-actions', ACTIONS),
  target('kuberuntime/compute-init-actions', ACTIONS),
  target('kuberuntime/compute-restart-all', [...ACTIONS, 'status/conditions', 'status/restart-all']),
  target('kuberuntime/container-fault', ACTIONS),
  target('kuberuntime/sandbox-changed', ACTIONS),
  target('kuberuntime/restart-policy', [...ACTIONS, 'status/pod-status']),
  target(
    'kuberuntime/grace-period',
    ['kuberuntime/grace-period'],
    [
      {in: 'terminationGracePeriodSeconds ?? 0', to: '1', why: 'a second is the least in any case'},
      {in: 'terminationGracePeriodSeconds ?? 0', to: '-1', why: 'a second is the least in any case'},
    ],
  ),
  target('kuberuntime/termination-order', KILL, [
    {
      in: 'names.flatMap(',
      to: 'this.#running.get(each)?.happened',
      why: 'waiting for nothing is as good as not waiting',
    },
  ]),
  target('kuberuntime/kill-pod', KILL),
  target('kuberuntime/kill-container', KILL, [
    {in: '.find((container) => container.name === name)', to: 'findLast', why: UNIQUE},
    {
      in: 'signal.throwIfAborted();',
      to: '{}',
      why: 'who gives a kill up is given the reason before its hook is',
    },
    {in: "'outlasted its container'", to: "''", why: 'nobody is told how a hook failed'},
  ]),
  target(
    'kuberuntime/crash-loop-back-off',
    ['kuberuntime/crash-loop-back-off'],
    [
      {in: 'container.resources ?? {}', to: 'container.resources', why: 'none has a text of its own too'},
      {in: ".join('/')", to: "''", why: 'the UID and its place tell pods apart all the same'},
    ],
  ),
  target('foreground/judge', ['foreground/judge']),
  target(
    'status/pod-phase',
    ['status/pod-phase'],
    [
      {in: 'all.find(', to: 'findLast', why: UNIQUE},
      {
        in: 'initContainers',
        to: 'initContainers',
        why: 'those that end have ended here, or the pod is Pending anyway',
      },
    ],
  ),
  target('status/conditions', CONDITIONS, [
    {in: 'input.previous.find(', to: 'findLast', why: UNIQUE},
    {in: 'statuses.find(', to: 'findLast', why: UNIQUE},
  ]),
  target('status/container-status', [...STATUS, 'status/what-was-known', 'status/restart-all']),
  target(
    'status/container-resources',
    ['status/container-resources'],
    [
      {in: 'cpuPeriod > 0n', to: '1n', why: 'no period is that short'},
      {in: 'cpuPeriod > 0n', to: '-1n', why: 'neither is a quota'},
      {in: 'nanos > 0n', to: '1n', why: 'bytes are counted in thousands of millions here'},
      {in: 'cpuShares < MIN_SHARES', to: '-1n', why: 'neither is an amount of CPU'},
      {in: 'cpuShares < MIN_SHARES', to: '1022n', why: 'a thousand shares leave a multiple of 8 over'},
    ],
  ),
  target('status/pod-status', STATUS),
  target('status/termination-message', ['status/termination-message']),
  target('admission/admit-pod', ADMISSION, [
    {in: 'const short = isCriticalPod(pod)', to: 'true', why: 'any other pod was refused by admitResources'},
  ]),
  target('admission/node-affinity', ADMISSION, [
    {in: "value = ''", to: "'other'", why: 'neither is a number'},
    {in: "[wanted = '']", to: "'other'", why: 'neither is a number'},
  ]),
  target('admission/node-room', ADMISSION, [
    {in: '.filter(({hostPort = 0}) => hostPort > 0)', to: '-1', why: 'no port is less than 0'},
  ]),
  target('admission/sysctls', ADMISSION, [
    {in: "', '0'],", to: "''", why: 'an empty text is the number 0 too'},
    {in: "?? '0').split", to: "''", why: 'an empty text is the number 0 too'},
    {in: '= numbers(', to: '1', why: 'no version in the table begins with 0 or ends with .0'},
    {in: '= numbers(', to: '-1', why: 'no version in the table begins with 0 or ends with .0'},
    {in: 'allowed.find(', to: 'findLast', why: 'all that is said of a name is of the same namespace'},
  ]),
];
