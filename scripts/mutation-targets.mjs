/**
 * What `npm run mutate` tries: the files that decide, and the tests that have to notice a fault in each. Property tests
 * are left out: a rule is to be stated by a test that fails every time.
 *
 * `equivalent` names the faults that change nothing: `in` is part of their line, `to` what they put there.
 */
const ACTIONS = ['kuberuntime/compute-pod-actions', 'kuberuntime/compute-restarts'];
const STATUS = [
  'status/pod-status',
  'status/pod-phase',
  'status/conditions',
  'status/container-resources',
  'status/readiness-gates',
  'status/golden-status',
];
const KILL = ['kuberuntime/kill-pod', 'kuberuntime/grace-period'];
const ADMISSION = ['admission/admit-pod', 'admission/admission'];

const target = (name, tests, equivalent = []) => ({
  file: `src/kubelet/${name}.ts`,
  tests: tests.map((test) => `test/kubelet/${test}.test.ts`),
  equivalent,
});

export const TARGETS = [
  target('kuberuntime/compute-pod-actions', ACTIONS),
  target('kuberuntime/compute-init-actions', ACTIONS),
  target('kuberuntime/compute-restart-all', ACTIONS),
  target('kuberuntime/container-fault', ACTIONS),
  target('kuberuntime/sandbox-changed', ACTIONS),
  target('kuberuntime/restart-policy', ACTIONS),
  target('kuberuntime/grace-period', KILL),
  target('kuberuntime/termination-order', KILL),
  target('kuberuntime/kill-pod', KILL),
  target('kuberuntime/kill-container', KILL),
  target('foreground/judge', ['foreground/judge', 'eviction']),
  target('status/pod-phase', STATUS),
  target('status/conditions', STATUS),
  target('status/container-status', STATUS),
  target('status/container-resources', STATUS),
  target('status/pod-status', STATUS),
  target('status/termination-message', ['status/termination-message']),
  target('admission/admit-pod', ADMISSION),
  target('admission/node-affinity', ADMISSION),
  target('admission/node-room', ADMISSION),
  target('admission/sysctls', ADMISSION),
];
