import {expect, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';

const explain = async (...args: readonly string[]) => await runKcri(['explain', ...args]);

// Proves: explain
test('explain lists the fields of a type, and which ones kcri ignores or rejects', async () => {
  const {stdout, stderr, exitCode} = await explain('pod.spec');
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  expect(stdout).toMatch(
    /^KIND: {7}Pod\nVERSION: {4}v1\n\nFIELD: spec <PodSpec> -required-\n\nSUPPORT: {4}honored\n\nFIELDS:\n/,
  );
  expect(stdout).toContain('\n  containers\t<[]Container> -required-\n');
  expect(stdout).toContain('\n  nodeSelector\t<map[string]string>\n');
  expect(stdout).toContain('\n  restartPolicy\t<string>\n    enum: Always, OnFailure, Never\n');
  expect(stdout).toContain('\n  schedulerName\t<string>\n    ignored: only schedulers use it\n');
  expect(stdout).toContain('    rejected: only an API server can remove them\n');
});

test.each([
  ['pod.spec.schedulingGates', 'SUPPORT:    rejected: only an API server can remove them\n'],
  ['po.spec.containers[0].volumeDevices.name', 'SUPPORT:    honored\n'],
  ['pods.spec.containers.image', 'FIELD: image <string> -required-\n\nSUPPORT:    honored\n'],
  ['pod.spec.containers.imagePullPolicy', 'ENUM:       Always, IfNotPresent, Never\n'],
  ['deploy.spec.template.spec.schedulerName', 'SUPPORT:    ignored: only schedulers use it\n'],
  ['deployment.spec.replicas', 'KIND:       Deployment\nVERSION:    apps/v1\n\nFIELD: replicas <integer>\n'],
  ['svc.spec.ports', 'FIELD: ports <[]ServicePort>'],
  ['pvc', 'KIND:       PersistentVolumeClaim\n'],
])('%s', async (field, text) => {
  expect((await explain(field)).stdout).toContain(text);
});

test('fields of other objects than Pods have no support', async () => {
  expect((await explain('deployment.metadata.generateName')).stdout).not.toContain('SUPPORT');
});

// Proves: explain --recursive
test('--recursive lists the fields of the objects below', async () => {
  const {stdout} = await explain('pod.spec.containers', '--recursive');
  expect(stdout).toContain('\n  livenessProbe\t<Probe>\n    exec\t<ExecAction>\n      command\t<[]string>\n');
  expect((await explain('pod', '--recursive')).stdout).toContain('containers\t<[]Container> -required-\n');
});

test.each([
  [
    ['pod.spec.contaners'],
    'field "contaners" does not exist in "pod.spec"\nhint: did you mean "containers"?',
  ],
  [['pod.spec.hostname.x'], 'field "x" does not exist in "pod.spec.hostname"'],
  [['deploymnet'], 'kcri has no schema of "deploymnet"\nhint: did you mean "deployment"?'],
  [['ingress'], 'kcri has no schema of "ingress"\nhint: these are known: '],
  [[], 'no field specified'],
])('%j is rejected', async (args, text) => {
  const {stdout, stderr, exitCode} = await explain(...args);
  expect(stderr).toContain(`kcri: ${text}`);
  expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
});
