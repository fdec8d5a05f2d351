import {describe, expect, test} from 'vitest';
import {chainIds} from '../../../src/operations/images/chain-ids.js';
import {runKcri} from '../../cli/run-kcri.js';
import {anImage, BUSYBOX, FakeRuntime} from '../../fakes/fake-runtime.js';
import {APP, startImageTestbed} from './image-testbed.js';

const DIFF = ['sha256:aa', 'sha256:bb'];
const SPEC = {
  rootfs: {type: 'layers', diff_ids: DIFF},
  history: [
    {created: '2026-05-01T10:00:00Z', created_by: '/bin/sh -c #(nop) ADD file:1 in / '},
    {created: '2026-05-01T11:00:00Z', created_by: 'ENV A=1', empty_layer: true},
    {created: '2026-05-01T12:00:00Z', created_by: `RUN ${'x'.repeat(60)}`, comment: 'buildkit'},
  ],
};

describe('history', () => {
  // Proves: history
  test('shows the steps, the newest first, with the sizes of their layers on containerd', async () => {
    const {fake, runtime, run} = await startImageTestbed({images: [{...anImage(), spec: SPEC}]});
    for (const key of chainIds(DIFF)) fake.snapshots.set(key, {parent: '', kind: 'COMMITTED', labels: {}});
    const {stdout, stderr, exitCode} = await run(['history', BUSYBOX]);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatch(/^IMAGE +CREATED +CREATED BY +SIZE +COMMENT$/);
    expect(lines[1]).toMatch(/^[0-9a-f]{13} +.* ago +RUN x+… +4.1kB +buildkit$/);
    expect(lines[2]).toMatch(/^<missing> +.* ago +ENV A=1 +0B/);
    expect(lines[3]).toMatch(/ADD file:1 in \/ +4.1kB/);
    expect(runtime.callsTo('ImageStatus')).toHaveLength(1);
  });

  // Proves: history --quiet, history --no-trunc, history --output
  test('-q prints IDs, --no-trunc everything, and -o json all facts', async () => {
    const {run} = await startImageTestbed({images: [{...anImage(), spec: SPEC}]});
    expect((await run(['history', '-q', '--no-trunc', BUSYBOX])).stdout).toMatch(
      /^sha256:[0-9a-f]{64}\n<missing>\n<missing>\n$/,
    );
    const steps = JSON.parse((await run(['history', '-o', 'json', BUSYBOX])).stdout) as object[];
    expect(steps[2]).toMatchObject({
      id: '',
      diffId: 'sha256:aa',
      size: null,
      created: '2026-05-01T10:00:00Z',
    });
    expect(steps[1]).toMatchObject({diffId: '', size: 0});
  });

  test('works without containerd, and fails clearly without a history', async () => {
    await using crio = await FakeRuntime.start({profile: 'cri-o', images: [{...anImage(), spec: SPEC}]});
    const {stdout, exitCode} = await runKcri(['history', BUSYBOX], {endpoint: crio.endpoint});
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/RUN x+… +- +buildkit/);
    const {run} = await startImageTestbed({images: [anImage()]});
    expect((await run(['history', BUSYBOX])).stderr).toMatch(/does not report the history.*\nhint: /);
    expect((await run(['history', 'nope'])).stderr).toMatch(/no such image "nope"/);
    expect((await run(['history'])).exitCode).toBe(1);
    expect((await run(['history', APP])).exitCode).toBe(0);
  });
});
