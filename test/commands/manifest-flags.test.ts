import {describe, expect, test} from 'vitest';
import {anImage} from '../fakes/fake-runtime.js';
import {aManifest, createTestbed, expectUserError, type CommandTestbed} from './command-testbed.js';

const MIRRORED = 'localhost:5000/mirror/busybox:1';

async function aTestbed(): Promise<CommandTestbed> {
  return await createTestbed({images: [anImage(), anImage({name: MIRRORED})]});
}

function createdImages({runtime}: CommandTestbed): readonly unknown[] {
  return runtime
    .callsTo('CreateContainer')
    .map(
      ({request}) =>
        (request as {config: {image: {user_specified_image: string}}}).config.image.user_specified_image,
    );
}

describe('-n, --image and --set-image', () => {
  // Proves: sync --namespace, sync --image, delete --namespace
  test('sync runs a pod in the namespace with the image, and delete finds it there', async () => {
    const testbed = await aTestbed();
    const file = await testbed.write('web.json', aManifest());
    const image = 'localhost:5000/busybox=localhost:5000/mirror/busybox';
    expect(await testbed.run(['sync', '-n', 'shop', '--image', image, file])).toMatchObject({exitCode: 0});
    expect(createdImages(testbed)).toEqual([MIRRORED]);
    expect(testbed.runtime.sandboxes[0]!.config.metadata).toMatchObject({namespace: 'shop', name: 'web'});
    const elsewhere = await testbed.run(['delete', '-n', 'default', 'web']);
    expect({...elsewhere, left: testbed.runtime.sandboxes.length}).toMatchObject({exitCode: 1, left: 1});
    const {stdout} = await testbed.run(['delete', '-n', 'shop', file]);
    expect(stdout).toBe('pod "shop/web" deleted\n');
  });

  // Proves: sync --set-image
  test('sync runs a container with another image', async () => {
    const testbed = await aTestbed();
    const {exitCode} = await testbed.run(['sync', '--set-image', `main=${MIRRORED}`, '-'], {
      stdin: aManifest(),
    });
    expect({exitCode, images: createdImages(testbed)}).toEqual({exitCode: 0, images: [MIRRORED]});
  });

  // Proves: runp --namespace, runp --image, runp --set-image
  test.each([
    ['--image', `localhost:5000/busybox:1=${MIRRORED}`],
    ['--set-image', `*=${MIRRORED}`],
  ])('runp takes -n and %s', async (flag, value) => {
    const testbed = await aTestbed();
    const {exitCode} = await testbed.run(['runp', '-n', 'shop', flag, value, '-'], {stdin: aManifest()});
    expect({exitCode, images: createdImages(testbed)}).toEqual({exitCode: 0, images: [MIRRORED]});
    expect(testbed.runtime.sandboxes[0]!.config.metadata).toMatchObject({namespace: 'shop'});
  });

  // Proves: plan --namespace, plan --image, plan --set-image
  test.each([
    ['--image', `localhost:5000/busybox=${MIRRORED}`],
    ['--set-image', `main=${MIRRORED}`],
  ])('plan takes -n and %s', async (flag, value) => {
    const testbed = await aTestbed();
    const args = ['plan', '--offline', '-n', 'shop', flag, value, '-'];
    const {stdout, exitCode} = await testbed.run(args, {stdin: aManifest()});
    expect(exitCode).toBe(0);
    expect(stdout).toContain(MIRRORED);
    expect(stdout).toContain('shop');
  });

  test.each([
    [
      ['-n', 'shop'],
      {metadata: {namespace: 'other'}},
      /stdin:1:\d+: metadata\.namespace: .*namespace "shop"/,
    ],
    [['--image', 'nginx=x'], {}, /--image: no container uses the image "nginx"\n.*localhost:5000\/busybox:1/],
    [['--set-image', 'man=x'], {}, /--set-image: no container "man"\n.*did you mean "main"\?/],
    [['--replicas', '2'], {}, /--replicas: no object in the manifests has replicas\n.*Deployment/],
    [['--image', 'nginx'], {}, /invalid argument "nginx" for "--image" flag: must be NAME=IMAGE/],
    [['-n', 'A_b'], {}, /invalid argument "A_b" for "-n, --namespace" flag: must be lower case/],
    [['-n', ''], {}, /--namespace/],
  ])('sync %j is refused before anything is created', async (args, fields, message) => {
    const testbed = await aTestbed();
    const result = await testbed.run(['sync', ...args, '-'], {stdin: aManifest(fields)});
    expectUserError(result);
    expect(result.stderr).toMatch(message);
    expect({exitCode: result.exitCode, calls: testbed.mutatingCalls}).toEqual({exitCode: 1, calls: []});
  });
});
