import {execFileSync} from 'node:child_process';
import {mkdir, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {COMPLETION_SCRIPTS} from '../../../src/features/completion/completion-scripts.js';
import {FakeRuntime, aContainer, aSandbox, anImage} from '../../fakes/fake-runtime.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {runKcri} from '../../cli/run-kcri.js';

const ODD = ['$(reboot)', 'a b', 'a;b', '`id`', '*', 'a\nb', "it's", '', '--all', ':files'];

/** Returns the suggestions for the last word behind `kcri`, without IDs. */
async function namesAt(runtime: FakeRuntime, ...words: readonly string[]): Promise<readonly string[]> {
  const {stdout} = await runKcri(['completion', '--suggest', '--', ...words], {endpoint: runtime.endpoint});
  const suggested = stdout.trimEnd().split('\n');
  return suggested
    .map((line) => line.split('\t')[0] ?? '')
    .filter((word) => !/^(sha256:)?[0-9a-f]{13}$/.test(word));
}

test('names that are not a single shell word, or look like a flag, are not suggested', async () => {
  const sandboxes = ['web', ...ODD].map((name) => aSandbox({name}));
  const [web] = sandboxes;
  const containers = ['main', ...ODD].map((name) => aContainer({sandbox: web!, name}));
  await using runtime = await FakeRuntime.start({
    sandboxes,
    containers,
    images: [anImage({name: 'localhost:5000/team/app:1'})],
  });
  expect(await namesAt(runtime, 'stop', '')).toEqual(['main']);
  expect(await namesAt(runtime, 'stopp', '')).toEqual(['web']);
  expect(await namesAt(runtime, 'rmi', '')).toEqual(['localhost:5000/team/app:1']);
});

test('an ambiguous container name is suggested with its pod, and with the namespace if needed', async () => {
  const [web, api, sameName] = [
    aSandbox({name: 'web', namespace: 'one'}),
    aSandbox({name: 'api', namespace: 'one'}),
    aSandbox({name: 'api', namespace: 'two'}),
  ];
  const containers = [web, api, sameName].map((sandbox) => aContainer({sandbox, name: 'server'}));
  await using runtime = await FakeRuntime.start({
    sandboxes: [web, api, sameName],
    containers: [...containers, aContainer({sandbox: web, name: 'proxy'})],
  });
  expect(await namesAt(runtime, 'exec', '')).toEqual([
    'api',
    'one/api/server',
    'proxy',
    'two/api/server',
    'web',
    'web/server',
  ]);
});

test('a name that begins with its pod or namespace is completed', async () => {
  const web = aSandbox({name: 'web'});
  await using runtime = await FakeRuntime.start({
    sandboxes: [web],
    containers: [aContainer({sandbox: web, name: 'server'})],
  });
  expect(await namesAt(runtime, 'logs', 'default/web/')).toEqual(['default/web/server']);
  expect(await namesAt(runtime, 'why', 'web/s')).toEqual(['web/server']);
  expect(await namesAt(runtime, 'logs', 'web/s')).toEqual(['web/server']);
  expect(await namesAt(runtime, 'delete', 'default/w')).toEqual(['default/web']);
});

test.each(['logs', 'attach', 'inspect'])('%s -c is completed with names of containers', async (command) => {
  const sandboxes = ['web', 'api'].map((name) => aSandbox({name}));
  const containers = sandboxes.map((sandbox) => aContainer({sandbox, name: 'server'}));
  await using runtime = await FakeRuntime.start({sandboxes, containers});
  expect(await namesAt(runtime, command, '-c', '')).toEqual(['server']);
  expect(await namesAt(runtime, command, '--container=')).toEqual(['--container=server']);
});

test('cp is completed with running containers, and with files for other words', async () => {
  const web = aSandbox({name: 'web'});
  const containers = [
    aContainer({sandbox: web, name: 'server'}),
    aContainer({sandbox: web, name: 'done', state: 'CONTAINER_EXITED'}),
  ];
  await using runtime = await FakeRuntime.start({sandboxes: [web], containers});
  const named = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await namesAt(runtime, 'cp', ...words)).filter((word) => !/^[0-9a-f]{13}:$/.test(word));
  expect(await named('')).toEqual(['server:', 'web:']);
  expect(await named('web/s')).toEqual(['web/server:']);
  expect(await named('./dir', 's')).toEqual(['server:']);
  expect(await named('./')).toEqual([':files']);
  expect(await named('server:/')).toEqual(['']);
});

test.each(['wait', 'restart', 'tree', 'logs', 'exec', 'attach', 'debug', 'inspect', 'diff'])(
  '%s is completed with pods and containers',
  async (command) => {
    const [web, single] = ['web', 'single'].map((name) => aSandbox({name}));
    const containers = [
      aContainer({sandbox: web!, name: 'main'}),
      aContainer({sandbox: single!, name: 'single'}),
    ];
    await using runtime = await FakeRuntime.start({sandboxes: [web!, single!], containers});
    expect(await namesAt(runtime, command, '')).toEqual(['main', 'single', 'web']);
    expect(await namesAt(runtime, command, 'web/')).toEqual(['web/main']);
    expect(await namesAt(runtime, command, '-c', '')).toEqual(['main', 'single']);
  },
);

test('wait --for is completed with its conditions', async () => {
  await using runtime = await FakeRuntime.start();
  expect(await namesAt(runtime, 'wait', 'web', '--for=')).toEqual([
    '--for=condition=Ready',
    '--for=delete',
    '--for=exit',
    '--for=jsonpath=',
    '--for=log=',
  ]);
});

test('describe is completed with pods and its subcommand', async () => {
  await using runtime = await FakeRuntime.start({sandboxes: [aSandbox({name: 'web'})]});
  expect(await namesAt(runtime, 'describe', '')).toEqual(['node', 'web']);
  expect(await namesAt(runtime, 'describe', 'web', '')).toEqual(['web']);
});

test('only directories, YAML and JSON files are suggested for manifests', async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'pods'));
  await symlink(join(directory, 'pods'), join(directory, 'linked'));
  for (const name of ['a.yaml', 'b.json', 'c.yml', 'd.txt', '.hidden.yaml', 'run.sh'])
    await writeFile(join(directory, name), '');
  await using runtime = await FakeRuntime.start();
  for (const command of ['sync', 'plan', 'runp', 'delete']) {
    expect(await namesAt(runtime, command, `${directory}/`)).toEqual(
      ['a.yaml', 'b.json', 'c.yml', 'linked/', 'pods/'].map((name) => join(directory, name)),
    );
    expect(await namesAt(runtime, command, `${directory}/b`)).toEqual([join(directory, 'b.json')]);
  }
  await writeFile(join(directory, 'a b.yaml'), '');
  // The shell quotes it.
  expect(await namesAt(runtime, 'sync', `${directory}/a`)).toEqual([':files']);
  expect(await namesAt(runtime, 'sync', `${directory}/nothing/`)).toEqual(['']);
});

test('IDs are not suggested where only pod names are accepted', async () => {
  await using runtime = await FakeRuntime.start({sandboxes: [aSandbox({name: 'web'})]});
  const {stdout} = await runKcri(['completion', '--suggest', '--', 'top', ''], {
    endpoint: runtime.endpoint,
  });
  expect(stdout).toMatch(/^web\t[^\n]*\n$/);
});

test('output formats are suggested, and those with a template up to the template', async () => {
  await using runtime = await FakeRuntime.start();
  expect(await namesAt(runtime, 'inspect', '-o', '')).toEqual([
    'custom-columns=',
    'go-template=',
    'json',
    'jsonpath=',
    'table',
    'yaml',
  ]);
});

test('managers of pods are suggested', async () => {
  await using runtime = await FakeRuntime.start();
  for (const words of [['get', 'pods'], ['get', 'events'], ['describe'], ['top']])
    expect(await namesAt(runtime, ...words, '--manager', '')).toEqual(['kcri', 'kubelet', 'none']);
});

test('bash inserts suggestions literally', () => {
  const script = `${COMPLETION_SCRIPTS.bash('kcri')}
kcri() { printf '%s\\n' '*' 'a b' '$(echo hi)' $'word\\tmeaning'; }
COMP_WORDS=(kcri ''); COMP_CWORD=1; COMP_LINE='kcri '; COMP_POINT=5
_kcri
printf '<%s>' "\${COMPREPLY[@]}"`;
  const output = execFileSync('bash', ['--norc', '--noprofile', '-uc', script], {encoding: 'utf8'});
  expect(output).toBe('<*><a b><$(echo hi)><word>');
});

test('a flag whose value is optional is completed after = only, and the next word is not its value', async () => {
  await using runtime = await FakeRuntime.start();
  const forms = ['kcri', 'kubeadm', 'kubeadm-drop-in'];
  expect(await namesAt(runtime, 'kubelet', '--print-unit=')).toEqual(
    forms.map((form) => `--print-unit=${form}`),
  );
  expect(await namesAt(runtime, 'kubelet', '--print-unit', '--check-c')).toEqual(['--check-config']);
});

// Proves: completion --name
test.each([
  ['bash', 'crictl', /^complete -F _crictl crictl$/m],
  ['bash', 'my-cri', /^complete -F _my_cri my-cri$/m],
  ['zsh', 'crictl', /^#compdef crictl$[^]*^ {4}compdef _crictl crictl$/m],
  ['fish', 'crictl', /^complete -c crictl -f -a /m],
])('the %s script completes %s for --name', async (shell, name, registration) => {
  const {stdout, exitCode} = await runKcri(['completion', `--name=${name}`, shell]);
  expect(stdout).toMatch(registration);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('kcri completion --suggest');
});

test('the bash script of an alias asks kcri for the words of the alias', () => {
  const script = `${COMPLETION_SCRIPTS.bash('crictl')}
kcri() { printf '%s\\n' "$4"; }
COMP_WORDS=(crictl ps); COMP_CWORD=1; COMP_LINE='crictl ps'; COMP_POINT=9
_crictl
printf '<%s>' "\${COMPREPLY[@]}"; complete -p crictl`;
  const output = execFileSync('bash', ['--norc', '--noprofile', '-uc', script], {encoding: 'utf8'});
  expect(output).toBe('<crictl ps>complete -F _crictl crictl\n');
});

test('--name must be a name', async () => {
  const {stderr, exitCode} = await runKcri(['completion', '--name=a b']);
  expect(stderr).toContain('kcri: invalid --name "a b": must be the name of a command');
  expect(exitCode).toBe(1);
});
