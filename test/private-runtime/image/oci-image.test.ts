import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {describe, expect, test} from 'vitest';
import {
  toOciArchitecture,
  buildOciArchive,
  buildOciImage,
  type ImageSpec,
} from '../../../src/private-runtime/image/oci-image.js';

const SPEC: ImageSpec = {
  names: ['localhost/a:1', 'localhost/b:2'],
  architecture: 'amd64',
  files: [{type: 'file', path: 'hello', data: Buffer.from('hello')}],
  entrypoint: ['/hello'],
  env: ['A=b'],
};

function member(archive: Uint8Array, name: string): Buffer {
  return execFileSync('tar', ['-xOf', '-', name], {input: archive});
}

describe('ociImage', () => {
  test('every digest matches its content, and the manifest references the other blobs', () => {
    const {manifest, blobs} = buildOciImage(SPEC);
    for (const {digest, data} of [manifest, ...blobs]) {
      expect(digest).toBe(`sha256:${createHash('sha256').update(data).digest('hex')}`);
    }
    const {config, layers} = JSON.parse(Buffer.from(manifest.data).toString()) as {
      config: {digest: string; size: number};
      layers: {digest: string; size: number}[];
    };
    expect([config, ...layers].map(({digest, size}) => ({digest, size}))).toEqual(
      blobs.map(({digest, data}) => ({digest, size: data.length})),
    );
  });

  test('the configuration has the entrypoint, and omits fields missing in the spec', () => {
    const config = JSON.parse(Buffer.from(buildOciImage(SPEC).blobs[0]?.data ?? []).toString()) as {
      config: unknown;
    };
    expect(config.config).toEqual({Entrypoint: ['/hello'], Env: ['A=b']});
  });

  test('equal specs give equal images', () => {
    expect(buildOciImage(SPEC).manifest.digest).toBe(buildOciImage({...SPEC}).manifest.digest);
  });
});

describe('ociArchive', () => {
  test('the index has an entry per name, all with the same manifest', () => {
    const archive = buildOciArchive(SPEC);
    const index = JSON.parse(member(archive, 'index.json').toString()) as {
      manifests: {digest: string; annotations: Record<string, string>}[];
    };
    expect(index.manifests.map(({annotations}) => annotations)).toEqual([
      {'io.containerd.image.name': 'localhost/a:1', 'org.opencontainers.image.ref.name': '1'},
      {'io.containerd.image.name': 'localhost/b:2', 'org.opencontainers.image.ref.name': '2'},
    ]);
    const {manifest} = buildOciImage(SPEC);
    expect(new Set(index.manifests.map(({digest}) => digest))).toEqual(new Set([manifest.digest]));
    expect(member(archive, `blobs/${manifest.digest.replace(':', '/')}`)).toEqual(Buffer.from(manifest.data));
  });
});

test.each([
  ['x64', 'amd64'],
  ['arm64', 'arm64'],
])('the Node.js architecture %s is %s in OCI', (node, oci) => {
  expect(toOciArchitecture(node)).toBe(oci);
});
