import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {commandPaths, loadCommand} from '../../../src/cli/catalog/command-files.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {runKcri, type RunOptions, type RunResult} from '../../cli/run-kcri.js';
import {
  aContainer,
  anImage,
  aSandbox,
  FakeRuntime,
  type FakeRuntimeOptions,
} from '../../fakes/fake-runtime.js';
import {createSyncedTestbed} from '../command-testbed.js';
import {FAST_CLOCK, interruptAt} from '../interrupt-watch.js';

const WEB = aSandbox({id: 'e'.repeat(64), name: 'web', labels: {app: 'web'}});
const API = aSandbox({id: 'f'.repeat(64), name: 'api', namespace: 'prod', createdAt: 1n});
const MAIN = aContainer({id: 'a'.repeat(64), sandbox: WEB, name: 'main', labels: {tier: '<front>'}});
const SIDE = aContainer({id: 'b'.repeat(64), sandbox: API, name: 'side', attempt: 2, createdAt: 1n});

const SCENE: FakeRuntimeOptions = {
  sandboxes: [WEB, API],
  containers: [MAIN, SIDE],
  images: [anImage(), anImage({name: 'localhost:5000/tool:2'})],
};

async function run(
  args: readonly string[],
  options: RunOptions = {},
  scene: FakeRuntimeOptions = SCENE,
): Promise<RunResult & {readonly calls: number}> {
  await using runtime = await FakeRuntime.start(scene);
  const result = await runKcri(args, {endpoint: runtime.endpoint, clock: FAST_CLOCK, ...options});
  return {...result, calls: runtime.calls.length};
}

async function expectPrinted(args: readonly string[], stdout: string): Promise<void> {
  expect(await run(args)).toMatchObject({stdout, stderr: '', exitCode: 0});
}

const columns = (spec: string): readonly string[] => ['-o', `custom-columns=${spec}`];

// Proves: inspectp --no-headers, version --output, top --output, version --no-headers
describe('custom columns', () => {
  test.each([
    [
      ['ps', ...columns('ID:.id,NAME:.metadata.name,TIER:.labels.tier')],
      'ID                                                                 NAME   TIER\n' +
        `${MAIN.id}   main   <front>\n` +
        `${SIDE.id}   side   <none>\n`,
    ],
    [['pods', ...columns('POD:{.metadata.name}')], 'POD\nweb\napi\n'],
    [['pods', '--no-headers', ...columns('POD:metadata.name,N:{metadata.attempt}')], 'web   0\napi   0\n'],
    [['images', ...columns('TAG:.repoTags[0]')], 'TAG\nlocalhost:5000/busybox:1\nlocalhost:5000/tool:2\n'],
    [
      ['get', 'images', ...columns('NAMES:.names[0:1]')],
      'NAMES\nlocalhost:5000/busybox:1\nlocalhost:5000/tool:2\n',
    ],
    [
      ['inspect', 'main', 'side', ...columns('NAME:.status.metadata.name,STATE:.status.state')],
      'NAME   STATE\nmain   CONTAINER_RUNNING\nside   CONTAINER_RUNNING\n',
    ],
    [['inspectp', 'web', '--no-headers', ...columns('IP:.status.network.ip')], '10.244.0.2\n'],
    [
      ['inspecti', 'localhost:5000/tool:2', ...columns('TAGS:.status.repoTags')],
      'TAGS\n[localhost:5000/tool:2]\n',
    ],
    [['info', '-q', ...columns('READY:.status.conditions[*].type')], 'READY\nRuntimeReady,NetworkReady\n'],
    [['version', '--no-headers', ...columns('API:.runtimeApiVersion')], 'v1\n'],
    [['stats', ...columns('NAME:.attributes.metadata.name')], 'NAME\nmain\nside\n'],
    [['statsp', ...columns('NAME:.attributes.metadata.name')], 'NAME\nweb\napi\n'],
    [['top', ...columns('POD:.name,NS:.namespace')], 'POD   NS\nweb   default\napi   prod\n'],
    [['imagefsinfo', ...columns('N:.status.imageFilesystems[5].usedBytes')], 'N\n<none>\n'],
    [['runtime-config', ...columns('DRIVER:.linux.cgroupDriver')], 'DRIVER\nCGROUPFS\n'],
  ])('%j', async (args, stdout) => {
    await expectPrinted(args, stdout);
  });

  test('of a list without items are headers only', async () => {
    const {stdout} = await run(['ps', '--name=none', ...columns('ID:.id,NAME:.metadata.name')]);
    expect(stdout).toBe('ID    NAME\n');
    expect((await run(['ps', '--name=none', '--no-headers', ...columns('ID:.id')])).stdout).toBe('');
  });

  test('of filters may contain commas in brackets', async () => {
    const spec = `OK:.status.conditions[?(@.type=="a,b")].status,T:.status.conditions[0].type`;
    await expectPrinted(['info', ...columns(spec)], 'OK       T\n<none>   RuntimeReady\n');
  });

  test('show line breaks and control characters of values as escapes', async () => {
    const odd = aContainer({sandbox: WEB, name: 'odd', annotations: {text: 'a\nb\u001B[2J'}});
    const {stdout} = await run(['ps', ...columns('TEXT:.annotations.text')], {}, {containers: [odd]});
    expect(stdout).toBe(String.raw`TEXT` + '\n' + String.raw`a\nb\x1b[2J` + '\n');
  });

  test('of a file are a line of headers and a line of paths', async () => {
    const file = join(await temporaryDirectory(), 'columns');
    await writeFile(file, 'NAME   ATTEMPT\n.metadata.name .metadata.attempt\n');
    await expectPrinted(['ps', '-o', `custom-columns-file=${file}`], 'NAME   ATTEMPT\nmain   0\nside   2\n');
  });

  test('of a watch have one header', async () => {
    const {stdout} = await run(
      ['stats', '-w', ...columns('NAME:.attributes.metadata.name')],
      interruptAt(/side\nmain\nside\n/),
    );
    expect(stdout).toMatch(/^NAME\n(main\nside\n)+$/);
  });

  test('of Pods have the Pod as their root', async () => {
    const {rootDir, runtime} = await createSyncedTestbed();
    const kcri = async (args: readonly string[]): Promise<string> =>
      (await runKcri(['--root-dir', rootDir, ...args], {endpoint: runtime.endpoint})).stdout;
    const spec = columns('NAME:.metadata.name,IMAGES:.spec.containers[*].image');
    for (const command of [
      ['get', 'pods'],
      ['get', 'pods', 'web'],
      ['describe', 'web'],
    ])
      expect(await kcri([...command, ...spec])).toBe('NAME   IMAGES\nweb    localhost:5000/busybox:1\n');
    expect(await kcri(['get', 'events', ...columns('REASON:.reason')])).toMatch(/^REASON\n(\w+\n)*Started\n/);
  });
});

// Proves: ps --format, pods --format, images --format, inspect --format, inspectp --format, info --format,
//   version --format, stats --format, top --format, metricdescs --format, get node --format, events --format
describe('--format', () => {
  test.each([
    [['ps', '--format', '{{.metadata.name}} {{.state}}'], 'main CONTAINER_RUNNING\nside CONTAINER_RUNNING\n'],
    [
      [
        'ps',
        '--format',
        String.raw`table {{.metadata.name}}\t{{truncate .podSandboxId 3}}\t{{.image.image}}`,
      ],
      'NAME   POD SANDBOX ID   IMAGE\n' +
        'main   eee              localhost:5000/busybox:1\n' +
        'side   fff              localhost:5000/busybox:1\n',
    ],
    [['ps', '--no-headers', '--format', 'table {{upper .metadata.name}}'], 'MAIN\nSIDE\n'],
    [['pods', '--format', '{{pad .metadata.name 1 2}}|'], ' web  |\n api  |\n'],
    [['images', '--format', '{{join .repoTags ","}}'], 'localhost:5000/busybox:1\nlocalhost:5000/tool:2\n'],
    [['images', '--format', '{{index (split (index .repoTags 0) ":") 2}}'], '1\n2\n'],
    [['inspect', 'main', '--format', '{{json .status.labels.tier}}'], '"<front>"\n'],
    [['inspectp', 'web', '--format', '{{println .status.network.ip}}'], '10.244.0.2\n\n'],
    [['info', '--format', '{{(index .status.conditions 0).type}}'], 'RuntimeReady\n'],
    [['version', '--format', '{{.runtimeApiVersion}}'], 'v1\n'],
    [
      ['version', '--format', 'table'],
      'Version:  0.1.0\nRuntimeName:  fake\nRuntimeVersion:  v1.0.0\nRuntimeApiVersion:  v1\n',
    ],
    [['stats', '--format', '{{title .attributes.metadata.name}}'], 'Main\nSide\n'],
    [['top', '--format', '{{.namespace}}/{{.name}}'], 'default/web\nprod/api\n'],
    [['metricdescs', '--format', '{{.name}}'], expect.stringMatching(/^(\w+\n)+$/) as string],
    [['get', 'node', '--format', '{{.kind}}'], 'Node\n'],
    [['ps', '--name=none', '--format', '{{.id}}'], ''],
    [['ps', '--name=none', '--format', String.raw`table {{.id}}\t{{.state}}`], 'ID    STATE\n'],
    [
      [
        'ps',
        '--format',
        'table {{index .labels "io.kubernetes.pod.name"}}\\t{{range .labels}}{{.}}{{break}}{{end}}',
      ],
      'IO.KUBERNETES.POD.NAME   LABELS\nweb                      web\napi                      side\n',
    ],
  ])('%j', async (args, stdout) => {
    expect(await run(args)).toMatchObject({stdout, stderr: '', exitCode: 0});
  });

  test.each([
    [
      ['ps', '--format', '{{.ID}} {{.Names}} {{.Image}} {{.State}}'],
      'aaaaaaaaaaaaa main localhost:5000/busybox:1 running\nbbbbbbbbbbbbb side localhost:5000/busybox:1 running\n',
    ],
    [
      ['ps', '--format', '{{.Namespace}}/{{.Pod}} {{.Status}}', '--name=side'],
      expect.stringMatching(/^prod\/api Up \d+ years\n$/) as string,
    ],
    [
      ['ps', '--format', '{{.CreatedAt}} {{.RunningFor}}', '--name=side'],
      expect.stringMatching(/^1970-01-01T00:00:00.000Z \d+ years ago\n$/) as string,
    ],
    [
      ['pods', '--format', String.raw`table {{.ID}}\t{{.Name}}\t{{.Labels}}`, '--name=web'],
      expect.stringMatching(/^ID +NAME +LABELS\neeeeeeeeeeeee   web    app=web.*\n$/) as string,
    ],
    [
      ['images', '--format', '{{.Repository}}:{{.Tag}} {{.Digest}}'],
      expect.stringMatching(/^localhost:5000\/busybox:1 .*\nlocalhost:5000\/tool:2 .*\n$/) as string,
    ],
    [
      ['stats', '--format', '{{.Name}} {{.MemUsage}}'],
      expect.stringMatching(/^main [\d.]+\w*B\nside [\d.]+\w*B\n$/) as string,
    ],
    [
      ['system', 'df', '--format', '{{.Type}} {{.TotalCount}} {{.Active}} {{.Size}} {{.Reclaimable}}'],
      expect.stringMatching(/^Images 2 \d \S+ \S+\nContainers 2 2 \S+ \S+\nPods 2 2 -- --\n/) as string,
    ],
  ])("%j uses docker's fields", async (args, stdout) => {
    expect(await run(args)).toMatchObject({stdout, stderr: '', exitCode: 0});
  });

  test('rows of images with several tags are repeated for fields of one tag', async () => {
    const scene = {images: [{...anImage(), repoTags: ['a.example/b:1', 'a.example/b:2']}]};
    const {stdout} = await run(['images', '--format', '{{.Repository}}:{{.Tag}}'], {}, scene);
    expect(stdout).toBe('a.example/b:1\na.example/b:2\n');
    expect((await run(['images', '--format', '{{json .repoTags}}'], {}, scene)).stdout).toBe(
      '["a.example/b:1","a.example/b:2"]\n',
    );
  });

  test("docker's fields are not part of the JSON", async () => {
    const {stdout} = await run(['ps', '--format', '{{json .}}']);
    expect(stdout).not.toContain('RunningFor');
    expect(stdout).toBe((await run(['ps', '--format', 'json'])).stdout);
  });

  test('json prints one line of JSON for each row', async () => {
    const {stdout} = await run(['ps', '--format', 'json']);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as {id: string});
    expect(rows.map(({id}) => id)).toEqual([MAIN.id, SIDE.id]);
    expect(stdout).toContain('"tier":"<front>"');
  });

  test('prints each event of the runtime', async () => {
    await using runtime = await FakeRuntime.start(SCENE);
    const running = runKcri(
      ['events', '--format', '{{.containerEventType}} {{.podSandboxStatus.metadata.name}}'],
      {
        endpoint: runtime.endpoint,
        ...interruptAt(/STOPPED/),
      },
    );
    await until(() => runtime.state.events.listeners > 0);
    runtime.exitContainer(MAIN.id, 0);
    expect(await running).toMatchObject({stdout: 'CONTAINER_STOPPED_EVENT web\n', exitCode: 0});
  });

  test('that does not match a row names the fields of the row, and nothing is printed', async () => {
    const {stdout, stderr, exitCode} = await run(['ps', '--format', '{{.Ports}}']);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toMatch(
      /^kcri: template: format:1:2: .*map has no entry for key "Ports"\nhint: the fields of this row are annotations, .*, id, .*\n$/,
    );
  });

  test.each([
    ['{{join .metadata ","}}', "error calling join: can't join item of type map[string]interface {}"],
    ['{{pad "x" -1 0}}', 'error calling pad: invalid number of characters: -1'],
    ['{{truncate "x" "y"}}', 'error calling truncate: invalid number of characters: y'],
  ])('%s fails', async (template, message) => {
    expect((await run(['pods', '--format', template])).stderr).toContain(message);
  });
});

// Proves: inspecti --format, inspectp --format, statsp --format, metricsp --format, imagefsinfo --format,
//   runtime-config --format, get images --format, info --no-headers, inspect --no-headers, inspecti --no-headers,
//   imagefsinfo --no-headers, runtime-config --no-headers, metricdescs --no-headers, metricsp --no-headers,
//   get node --no-headers, top --no-headers, ps --no-headers, pods --no-headers, images --no-headers,
//   stats --no-headers, statsp --no-headers
test.each([
  ['ps', 2],
  ['pods', 2],
  ['images', 2],
  ['get images', 2],
  ['get node', 1],
  ['inspect main side', 2],
  ['inspectp web', 1],
  ['inspecti localhost:5000/tool:2', 1],
  ['info', 1],
  ['version', 1],
  ['imagefsinfo', 1],
  ['runtime-config', 1],
  ['stats', 2],
  ['statsp', 2],
  ['metricsp', 2],
  ['top', 2],
])('%s prints %i rows, without headers if requested', async (line, count) => {
  const words = line.split(' ');
  const {stdout} = await run([...words, '--format', 'json']);
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((row) => typeof JSON.parse(row)),
  ).toEqual(Array<string>(count).fill('object'));
  const bare = await run([...words, '--no-headers', ...columns('X:.nope')]);
  expect(bare.stdout).toBe('<none>\n'.repeat(count));
});

// Proves: top --template, version --template, ps --template, pods --template, stats --template, statsp --template,
//   images --template, get images --template, metricdescs --template, metricsp --template, runtime-config --template
test.each([
  ['ps', '{{len .containers}}', '2'],
  ['pods', '{{len .items}}', '2'],
  ['stats', '{{len .stats}}', '2'],
  ['statsp', '{{len .stats}}', '2'],
  ['top', '{{len .pods}} {{len .events}}', '2 0'],
  ['version', '{{.runtimeApiVersion}}', 'v1'],
  ['images', '{{len .images}}', '2'],
  ['get images', '{{len .items}}', '2'],
  ['metricdescs', '{{slice "descriptors" 0 4}}', 'desc'],
  ['metricsp', '{{len .podMetrics}}', '2'],
  ['runtime-config', '{{.linux.cgroupDriver}}', 'CGROUPFS'],
])('%s --template renders the whole document', async (command, template, stdout) => {
  const printed = await run([...command.split(' '), '--template', template]);
  expect(printed).toMatchObject({stdout: `${stdout}\n`, exitCode: 0});
});

// Proves: get pods --format, describe --format, get events --format, describe --no-headers, get pods --no-headers,
//   get events --no-headers, get pods --template, get events --template
test('rows of Pods and events without headers', async () => {
  const {rootDir, runtime} = await createSyncedTestbed();
  const kcri = async (args: readonly string[]): Promise<string> =>
    (await runKcri(['--root-dir', rootDir, ...args], {endpoint: runtime.endpoint})).stdout;
  expect(await kcri(['get', 'pods', '--format', '{{.metadata.name}}'])).toBe('web\n');
  expect(await kcri(['describe', '--format', '{{.kind}} {{.metadata.name}}'])).toBe('Pod web\n');
  expect(await kcri(['describe', '--no-headers', ...columns('KIND:.kind')])).toBe('Pod\n');
  expect(await kcri(['get', 'pods', '--no-headers', ...columns('KIND:.kind')])).toBe('Pod\n');
  expect(await kcri(['get', 'events', '--no-headers', ...columns('KIND:.kind')])).toMatch(/^(Event\n)+$/);
  expect(await kcri(['get', 'pods', '--template', '{{len .items}}'])).toBe('1\n');
  expect(await kcri(['get', 'events', '--template', '{{.kind}}'])).toBe('List\n');
  expect(await kcri(['get', 'events', '--format', '{{.involvedObject.name}} {{.reason}}'])).toContain(
    'web Started\n',
  );
});

test('every command with an output format has --format and --no-headers', async () => {
  const lacking = [];
  for (const path of commandPaths()) {
    const {flags = {}} = (await loadCommand(path)).default as unknown as {
      flags?: Record<string, {choices?: readonly string[]}>;
    };
    const hasRows = flags['output']?.choices?.includes('custom-columns=SPEC') === true;
    if (hasRows && !('format' in flags && 'no-headers' in flags)) lacking.push(path);
  }
  expect(lacking).toEqual([]);
});

describe('invalid formats', () => {
  test.each([
    [
      ['ps', '-o', 'custom-columns'],
      'output format "custom-columns" requires a template\nhint: use -o custom-columns=HEADER:PATH,…',
    ],
    [['ps', ...columns('NAME')], 'invalid column "NAME" of -o custom-columns: must be HEADER:PATH'],
    [['ps', ...columns('A:.a,')], 'invalid column "" of -o custom-columns'],
    [['pods', ...columns('A:.a,NAME:.b[')], 'column "NAME": error parsing jsonpath .b[, unterminated array'],
    [['pods', ...columns('NAME:')], 'column "NAME": invalid path ""'],
    [['pods', ...columns('NAME:{.a}{.b}')], 'column "NAME": invalid path "{.a}{.b}"'],
    [['images', '-o', 'custom-columns-file=/nonexistent'], 'cannot read template "/nonexistent"'],
    [['images', '-o', 'custom-columns-file=/dev/null'], 'invalid file of custom columns: it has 0 headers'],
    [['ps', '--format', '{{.id'], 'template: format:1: unclosed action'],
    [['ps', '--format', 'table {{nope .id}}'], 'template: format:1: function "nope" not defined'],
    [['ps', '--format', '{{.id}}', '-o', 'json'], '--format cannot be combined with --output'],
    [['ps', '--format', '{{.id}}', '--template', 'x'], '--format cannot be combined with --template'],
    [['ps', '--format', ''], '--format must not be empty'],
    [
      ['info', '--format', 'yaml'],
      'invalid --format "yaml": it contains no action such as {{.id}}\nhint: use -o yaml',
    ],
    [['info', '--format', 'table'], 'invalid --format "table"'],
    [['events', '--format', '{{'], 'template: format:1: unclosed action'],
    [['top', '-o', 'jsn'], 'unsupported output format "jsn"'],
    [['version', '--format', '{{.x', '-o', 'json'], '--format cannot be combined with --output'],
  ])('%j is rejected before any call', async (args, message) => {
    const {stdout, stderr, exitCode, calls} = await run(args);
    expect(stderr).toContain(`kcri: ${message}`);
    expect({stdout, exitCode, calls}).toEqual({stdout: '', exitCode: 1, calls: 0});
  });
});

describe('as crictl', () => {
  test.each([
    [['ps', '--format', '{{.id}}'], 'flag provided but not defined: -format'],
    [['version', '-o', 'json'], 'flag provided but not defined: -o'],
    [['ps', '-o', 'custom-columns=ID:.id'], 'unsupported output format'],
  ])('%j fails as before', async (args, message) => {
    const {stderr, stdout} = await run(args, {env: {KCRI_COMPAT: 'crictl'}});
    expect(stdout + stderr).toContain(message);
  });
});
