import {expect, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';

interface Schema {
  readonly $ref: string;
  readonly $defs: Readonly<Record<string, {readonly properties: Readonly<Record<string, unknown>>}>>;
}

test.each([
  [['create', 'jsonschema'], '#/$defs/ContainerConfig'],
  [['create', 'js', '-p'], '#/$defs/PodSandboxConfig'],
  [['run', 'jsonschema', '--container'], '#/$defs/ContainerConfig'],
  [['runp', 'jsonschema'], '#/$defs/PodSandboxConfig'],
  [['pull', 'js'], '#/$defs/PodSandboxConfig'],
])('%j prints the schema of %s', async (args, ref) => {
  const {stdout, stderr, exitCode} = await runKcri(args);
  const schema = JSON.parse(stdout) as Schema;
  expect({ref: schema.$ref, stderr, exitCode}).toEqual({ref, stderr: '', exitCode: 0});
  for (const name of JSON.stringify(schema).matchAll(/"#\/\$defs\/(\w+)"/g))
    expect(schema.$defs).toHaveProperty(name[1]!);
});

test('with both flags both schemas are printed', async () => {
  const {stdout} = await runKcri(['create', 'jsonschema', '-pc']);
  expect(stdout.match(/"\$ref": "#\/\$defs\/\w+Config",\n {2}"\$defs"/g)).toHaveLength(2);
});

test("fields unknown to crictl are only in kcri's schema", async () => {
  const own = await runKcri(['create', 'jsonschema', '-c']);
  const crictl = await runKcri(['create', 'jsonschema', '-c'], {env: {KCRI_COMPAT: 'crictl'}});
  expect(own.stdout).toContain('"mount_options"');
  expect(crictl.stdout).not.toContain('"mount_options"');
});

test('a word after a command that is not a subcommand is an argument', async () => {
  const {stderr, exitCode} = await runKcri(['pull', 'jsonschemas', 'more']);
  expect(stderr).toContain('kcri: unexpected argument "more"');
  expect(exitCode).toBe(1);
});
