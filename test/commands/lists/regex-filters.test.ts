import {describe, expect, test} from 'vitest';
import {FakeRuntime, aContainer, aSandbox, anImage} from '../../fakes/fake-runtime.js';
import {runKcri} from '../../cli/run-kcri.js';

const LONG_NAME = `${'a'.repeat(40)}!`;

async function started() {
  const web = aSandbox({name: LONG_NAME, namespace: LONG_NAME});
  return await FakeRuntime.start({
    images: [anImage({name: `docker.io/library/${'a'.repeat(40)}:1`})],
    sandboxes: [web],
    containers: [aContainer({sandbox: web, name: LONG_NAME}), aContainer({sandbox: web, name: 'etcd'})],
  });
}

/** Command lines that end where a pattern follows. */
const FILTERED = [
  'ps -q --name=',
  'ps -q --namespace=',
  'pods -q --name=',
  'pods -q --namespace=',
  'inspect --name=',
  'inspect --namespace=',
  'inspectp --name=',
  'inspectp --namespace=',
  'images -q --filter=reference=',
  'inspecti --filter=reference=',
  'exec --sync --name=',
];
/** Those of kcri's own. */
const OWN = ['logs --name=', 'stop --name=', 'rm --name=', 'events --namespace='];

function commandLine(start: string, pattern: string): readonly string[] {
  return [...`${start}${pattern}`.split(' '), ...(start.startsWith('exec') ? ['true'] : [])];
}

describe.each(['kcri', 'crictl'])('a regular expression under the name %s', (name) => {
  const env = {KCRI_COMPAT: name};
  const lines = name === 'kcri' ? [...FILTERED, ...OWN] : FILTERED;

  test.each(FILTERED)('%s does not backtrack', async (start) => {
    await using runtime = await started();
    const {stdout} = await runKcri(commandLine(start, '^(a+)+$'), {endpoint: runtime.endpoint, env});
    expect(stdout).not.toContain(LONG_NAME);
  });

  test.each(lines)('%s has Go’s syntax', async (start) => {
    await using runtime = await started();
    const {stderr, exitCode} = await runKcri(commandLine(start, '(?=x)'), {endpoint: runtime.endpoint, env});
    expect(stderr).toContain('error parsing regexp: invalid or unsupported Perl syntax: `(?=`');
    expect(exitCode).toBe(1);
  });

  test.each(['(?i:ETCD)', 'e(?i)TCD', '(?U)e.*'])('%s matches', async (pattern) => {
    await using runtime = await started();
    const {stdout} = await runKcri(['ps', '-q', '--name', pattern], {endpoint: runtime.endpoint, env});
    expect(stdout).toBe(`${runtime.containers[1]?.id ?? ''}\n`);
  });
});
