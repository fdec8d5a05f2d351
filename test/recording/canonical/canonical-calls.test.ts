import {describe, expect, test} from 'vitest';
import {stringOrEmpty} from '../../../src/recording/canonical/canonical-json.js';
import {canonicalCalls, type ComparableCall} from '../../../src/recording/canonical/canonical-calls.js';
import {GOLDEN_NODE, goldenEnvironment} from '../../golden/golden-cases.js';

const SANDBOX = '5'.repeat(64);
const OTHER = '6'.repeat(64);
const ENVIRONMENT = goldenEnvironment(GOLDEN_NODE, ['10.244.0.9'], new Map([['sha256:1', 'busybox:1']]));

function call(method: string, request: object, rest: Partial<ComparableCall> = {}): ComparableCall {
  return {method, request, code: 'OK', deadlineMs: 119_987, ...rest};
}

function run(uid: string, id: string, config: object = {}): ComparableCall {
  const metadata = {name: 'web-goldennode', uid};
  return call(
    'RunPodSandbox',
    {config: {metadata, ...config}},
    {response: {podSandboxId: id}, deadlineMs: 239_990},
  );
}

const create = (name: string, id: string, config: object = {}, rest: object = {}): ComparableCall =>
  call(
    'CreateContainer',
    {pod_sandbox_id: SANDBOX, config: {metadata: {name, attempt: 1}, ...config}, ...rest},
    {response: {containerId: id}},
  );

describe('the canonical form of calls', () => {
  test('has labels for IDs, pods, nodes, directories, addresses and times', () => {
    const config = {
      log_directory: `${GOLDEN_NODE.podLogsDir}/default_web-goldennode_u1`,
      annotations: {seen: '2026-05-01T12:00:00.123456789+02:00', ip: '10.244.0.9 192.0.2.2'},
      linux: {cgroup_parent: '/kubepods/podu1'},
    };

    expect(canonicalCalls([run('u1', SANDBOX, config)], ENVIRONMENT)).toEqual([
      {
        method: 'RunPodSandbox',
        timeout_s: 240,
        code: 'OK',
        req: {
          config: {
            metadata: {name: 'web-<NODE>', uid: '<UID:web>'},
            log_directory: '<LOGS>/default_web-<NODE>_<UID:web>',
            annotations: {seen: '<TIME>', ip: '<POD_IP> <NODE_IP>'},
            linux: {cgroup_parent: '<CGROUP_ROOT>/kubepods/pod<UID:web>'},
          },
        },
        resp: {pod_sandbox_id: '<SB:web/0>'},
      },
    ]);
  });

  test('numbers pods with one name', () => {
    const lines = canonicalCalls([run('u1', SANDBOX), run('u2', OTHER)], ENVIRONMENT);

    expect(lines.map(({resp}) => resp)).toEqual([
      {pod_sandbox_id: '<SB:web/0>'},
      {pod_sandbox_id: '<SB:web#2/0>'},
    ]);
  });

  test('names containers and their files', () => {
    const host_path = `${GOLDEN_NODE.rootDir}/pods/u1/containers/main/0123abcd`;
    const config = {image: {image: 'sha256:1'}, mounts: [{host_path}]};

    const [, line] = canonicalCalls(
      [run('u1', SANDBOX), create('main', 'c'.repeat(64), config)],
      ENVIRONMENT,
    );

    expect(line).toMatchObject({
      req: {
        pod_sandbox_id: '<SB:web/0>',
        config: {
          image: {image: '<IMAGE:busybox:1>'},
          mounts: [{host_path: '<ROOT>/pods/<UID:web>/containers/main/<RAND>'}],
        },
      },
      resp: {container_id: '<C:web/main/1>'},
    });
  });

  test('decodes and sorts environments, and sorts resolver options', () => {
    const value = (text: string): string => Buffer.from(text).toString('base64');
    const envs = [{key: 'B', value: value('2')}, {key: 'A'}];
    const config = {envs, dns_config: {options: ['b', 'a']}};

    const [line] = canonicalCalls([create('main', 'c', config)], ENVIRONMENT);

    expect(line?.req['config']).toMatchObject({
      envs: [
        {key: 'A', value: ''},
        {key: 'B', value: '2'},
      ],
      dns_config: {options: ['a', 'b']},
    });
  });

  test("omits the sandbox's configuration unless it differs", () => {
    const metadata = {name: 'web-goldennode', uid: 'u1'};
    const same = create('a', 'c1', {}, {sandbox_config: {metadata}});
    const different = create('b', 'c2', {}, {sandbox_config: {metadata, hostname: 'h'}});

    const lines = canonicalCalls([run('u1', SANDBOX), same, different], ENVIRONMENT);

    expect(lines.slice(1).map(({req}) => req['sandbox_config'])).toEqual([
      '=RunPodSandbox',
      {metadata: {name: 'web-<NODE>', uid: '<UID:web>'}, hostname: 'h'},
    ]);
  });

  test('omits read-only calls', () => {
    const reads = [
      'Version',
      'Status',
      'ListContainers',
      'ContainerStatus',
      'PodSandboxStatus',
      'ImageStatus',
      'RuntimeConfig',
    ];

    expect(
      canonicalCalls(
        reads.map((method) => call(method, {})),
        ENVIRONMENT,
      ),
    ).toEqual([]);
  });
});

describe('the canonical order', () => {
  const stop = (id: string): ComparableCall => call('StopContainer', {container_id: id});
  const remove = (id: string, code = 'OK'): ComparableCall =>
    call('RemoveContainer', {container_id: id}, {code});
  const stopSandbox = (id: string): ComparableCall => call('StopPodSandbox', {pod_sandbox_id: id});
  const removeSandbox = (id: string): ComparableCall => call('RemovePodSandbox', {pod_sandbox_id: id});
  const brief = (calls: readonly ComparableCall[]): readonly string[] =>
    canonicalCalls(calls, ENVIRONMENT).map(({method, req, code}) =>
      [method, ...Object.values(req).map(stringOrEmpty), code].join(' '),
    );

  test('sorts parallel stops', () => {
    expect(brief([stop('b'), stop('a'), stopSandbox('s')])).toEqual([
      'StopContainer a OK',
      'StopContainer b OK',
      'StopPodSandbox s OK',
    ]);
  });

  test('lists repeated calls of a probe once, after the start of the container and until its stop', () => {
    const probe = (exit: number): ComparableCall =>
      call('ExecSync', {container_id: 'c'.repeat(64), cmd: ['ok']}, {response: {exitCode: exit}});
    const start = call('StartContainer', {container_id: 'c'.repeat(64)});
    const end = call('StopContainer', {container_id: 'c'.repeat(64)});
    const calls = [run('u1', SANDBOX), create('main', 'c'.repeat(64)), start, stopSandbox('s')];

    const lines = canonicalCalls(
      [...calls, probe(0), probe(0), probe(1), probe(0), end, probe(2)],
      ENVIRONMENT,
      new Map([['main', [['ok']]]]),
    );

    expect(
      lines.map(({method, probe: isProbe, resp}) => [method, isProbe, resp?.['exit_code']]).slice(2),
    ).toEqual([
      ['StartContainer', undefined, undefined],
      ['ExecSync', true, undefined],
      ['ExecSync', true, 1],
      ['StopPodSandbox', undefined, undefined],
      ['StopContainer', undefined, undefined],
    ]);
  });

  test('lists two removals of one container once, as successful if one is', () => {
    expect(brief([remove('a', 'Unknown'), stopSandbox('s'), remove('a')])).toEqual([
      'RemoveContainer a OK',
      'StopPodSandbox s OK',
    ]);
  });

  test('lists consecutive stops of a sandbox once', () => {
    expect(brief([stopSandbox('s'), stopSandbox('s'), remove('a'), stopSandbox('s')])).toEqual([
      'StopPodSandbox s OK',
      'RemoveContainer a OK',
      'StopPodSandbox s OK',
    ]);
  });

  test('sorts collected sandboxes by pod', () => {
    const collect = (id: string): readonly ComparableCall[] => [stopSandbox(id), removeSandbox(id)];

    expect(brief(['q/0', 'p/1', 'p/0'].flatMap(collect)).filter((line) => line.startsWith('Remove'))).toEqual(
      ['RemovePodSandbox p/1 OK', 'RemovePodSandbox p/0 OK', 'RemovePodSandbox q/0 OK'],
    );
  });
});
