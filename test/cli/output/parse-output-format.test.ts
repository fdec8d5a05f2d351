import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {BUILT_AT_NANOS, FakeRuntime, aContainer, aSandbox} from '../../fakes/fake-runtime.js';
import {runKcri} from '../run-kcri.js';

const web = aSandbox({name: 'web'});

async function started(): Promise<FakeRuntime> {
  return await FakeRuntime.start({
    sandboxes: [web],
    containers: [
      aContainer({sandbox: web, name: 'main', labels: {app: '<b>'}}),
      aContainer({sandbox: web, name: 'side', attempt: 2, createdAt: BUILT_AT_NANOS + 1n}),
    ],
  });
}

describe('templates', () => {
  test.each([
    [['inspect', '-o', 'go-template', '--template', '{{.status.metadata.name}}', 'main'], 'main\n'],
    [['inspect', '--template', '{{.status.metadata.name}}', 'main'], 'main\n'],
    [['inspect', '-o', 'go-template={{.status.metadata.name}}', 'main'], 'main\n'],
    [['inspect', '-o', 'jsonpath={.status.metadata.name}', 'main'], 'main\n'],
    [['inspect', '-o', 'jsonpath', '--template', '{.status.metadata.name}', 'main'], 'main\n'],
    [['inspect', '-o', 'jsonpath=.status.state', 'main'], 'CONTAINER_RUNNING\n'],
    [
      ['inspect', '-o', 'jsonpath={range [*]}{.status.metadata.name}{"\\n"}{end}', 'main', 'side'],
      'main\nside\n',
    ],
    [['inspectp', '-o', 'jsonpath={.status.network.ip}', 'web'], '10.244.0.2\n'],
    [['ps', '-o', 'jsonpath={.containers[?(@.metadata.name=="side")].metadata.attempt}'], '2\n'],
    [['pods', '-o', "jsonpath={.items[*].labels['io.kubernetes.pod.name']}"], 'web\n'],
    [
      ['images', '-o', 'go-template={{range .images}}{{index .repoTags 0}}{{end}}'],
      'localhost:5000/busybox:1\n',
    ],
    [['info', '-o', 'jsonpath={.status.conditions[?(@.type=="RuntimeReady")].status}'], 'true\n'],
  ])('%j', async (args, stdout) => {
    await using runtime = await started();
    expect(await runKcri(args, {endpoint: runtime.endpoint})).toEqual({stdout, stderr: '', exitCode: 0});
  });

  test('are also read from a file', async () => {
    const directory = await temporaryDirectory();
    await using runtime = await started();
    const [go, path] = [join(directory, 'a.tmpl'), join(directory, 'a.jsonpath')];
    await writeFile(go, '{{range .containers}}{{.metadata.name}} {{end}}');
    await writeFile(path, '{range .containers[*]}{.metadata.name} {end}');
    for (const output of [`go-template-file=${go}`, `jsonpath-file=${path}`])
      expect((await runKcri(['ps', '-o', output], {endpoint: runtime.endpoint})).stdout).toBe('side main \n');
  });

  test.each([
    [['ps', '-o', 'go-template'], 'output format "go-template" requires a template'],
    [['ps', '-o', 'jsonpath='], 'output format "jsonpath=" requires a template'],
    [['info', '-o', 'jsno', '--template', 'x'], 'template can\'t be used with "jsno" format'],
    [['info', '-o', 'go-template=a', '--template', 'b'], '-o and --template contain different templates'],
    [['ps', '-o', 'jsn'], 'unsupported output format "jsn"\nhint: did you mean "json"?'],
    [['ps', '-o', 'go-template={{.x'], 'template: template:1: unclosed action'],
    [['ps', '-o', 'jsonpath={.x'], 'error parsing jsonpath {.x, unclosed action'],
    [['ps', '-o', 'go-template-file=/nonexistent'], 'cannot read template "/nonexistent"'],
  ])('%j is rejected before any call', async (args, message) => {
    await using runtime = await started();
    const {stdout, stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
    expect(stderr).toContain(`kcri: ${message}`);
    expect({stdout, exitCode, calls: runtime.calls.length}).toEqual({stdout: '', exitCode: 1, calls: 0});
  });

  test.each([
    [['info', '-o', 'json']],
    [['inspect', '-o', 'yaml', 'main']],
    [['ps', '-o', 'table']],
    [['images', '-o', 'json']],
  ])('have no effect on formats without a template: %j', async (args) => {
    await using runtime = await started();
    const plain = await runKcri(args, {endpoint: runtime.endpoint});
    expect(await runKcri([...args, '--template', '{{.x}}'], {endpoint: runtime.endpoint})).toEqual({
      ...plain,
      stderr: `kcri: warning: --template has no effect with -o ${args[2]}\n`,
    });
  });

  test('that do not match the data report the position', async () => {
    await using runtime = await started();
    const {stderr, exitCode} = await runKcri(['inspect', '--template', '{{.status.nope}}', 'main'], {
      endpoint: runtime.endpoint,
    });
    expect(stderr).toContain(
      'template: template:1:9: executing "template" at <.status.nope>: map has no entry for key "nope"',
    );
    expect(exitCode).toBe(1);
  });
});

describe("crictl's dialect", () => {
  const compat = {KCRI_COMPAT: 'crictl'};

  test('inspect escapes <, > and &, unlike kcri', async () => {
    await using runtime = await started();
    const {endpoint} = runtime;
    const own = await runKcri(['inspect', 'main'], {endpoint});
    const crictl = await runKcri(['inspect', runtime.containers[0]!.id], {endpoint, env: compat});
    expect(own.stdout).toContain('"app": "<b>"');
    expect(crictl.stdout).toContain(String.raw`"app": "\u003cb\u003e"`);
    expect(JSON.parse(crictl.stdout)).toEqual(JSON.parse(own.stdout));
  });

  test.each([
    [['info', '-o', 'go-template', '--template', ''], '\n', ''],
    [['info', '-q', '-o', 'go-template', '--template', '{{len .status}}'], '1\n', ''],
    [['images', '-q', '-o', 'bogus'], /^sha256:/, ''],
    [['ps', '-o', 'wide'], '', String.raw`listing containers: unsupported output format \"wide\"`],
    [['info', '-o', 'table'], '', String.raw`getting status of runtime: unsupported format: \"table\"`],
    [
      ['info', '-o', 'go-template', '--template', '{{.x}}'],
      '',
      String.raw`getting status of runtime: execute template: failed to template data: template: tmplExecuteRawJSON:1:2: executing \"tmplExecuteRawJSON\" at <.x>: map has no entry for key \"x\"`,
    ],
  ])('%j', async (args, stdout, message) => {
    await using runtime = await started();
    const result = await runKcri(args, {endpoint: runtime.endpoint, env: compat});
    if (typeof stdout === 'string') expect(result.stdout).toBe(stdout);
    else expect(result.stdout).toMatch(stdout);
    expect(result.stderr).toContain(message);
    expect(result.exitCode).toBe(message === '' ? 0 : 1);
  });
});
