import {describe, expect, test} from 'vitest';
import {imageId, type Image} from '../../../src/cri/index.js';
import {matchesImageName, repoDigest, toNamedImage} from '../../../src/operations/filters/image-matching.js';

const HEX = '0123456789abcdef'.repeat(4);

const anImage = (seed: Partial<Image> = {}): Image => ({
  id: imageId(`sha256:${HEX}`),
  repoTags: [],
  repoDigests: [],
  size: 0n,
  username: '',
  pinned: false,
  ...seed,
});

describe('matchesImageName', () => {
  const image = anImage({
    repoTags: ['docker.io/library/busybox:1.36', 'localhost:5000/tools/busybox:1'],
    repoDigests: [`docker.io/library/busybox@sha256:${HEX}`],
  });

  test.each([
    'busybox',
    'busybox:1.36',
    'library/busybox',
    'docker.io/library/busybox',
    'localhost:5000/tools/busybox',
    'localhost:5000/tools/busybox:1',
    `busybox@sha256:${HEX}`,
    '0123456789abc',
    `sha256:${HEX}`,
    'sha256:0123',
  ])('the image matches %s', (name) => {
    expect(matchesImageName(image, name)).toBe(true);
  });

  test.each([
    'busybox:1',
    'busy',
    'tools/busybox',
    'localhost:5000/tools/busybox:2',
    '12345',
    'quay.io/busybox',
    '01',
  ])('the image does not match %s', (name) => {
    expect(matchesImageName(image, name)).toBe(false);
  });
});

describe('rows of an image', () => {
  test.each([
    [['localhost:5000/a:1', 'b:2'], [], ['localhost:5000/a 1', 'b 2']],
    [[], [`a@sha256:${HEX}`], ['a <none>']],
    [[], [], ['<none> <none>']],
    [['<none>:<none>'], [`a@sha256:${HEX}`], ['a <none>']],
    [['odd'], [], ['errorRepoTag errorRepoTag']],
  ])('tags %j and digests %j are shown as %j', (tags, digests, rows) => {
    const image = anImage({repoTags: tags, repoDigests: digests});
    const names = tags.length === 0 ? [undefined] : tags;
    const shown = names.map((name) => toNamedImage(image, name));
    expect(shown.map(({repo, tag}) => `${repo} ${tag}`)).toEqual(rows);
  });

  test('a digested name without a digest is marked', () => {
    expect(repoDigest(anImage({repoDigests: ['odd']}))).toEqual({
      repo: 'errorName',
      digest: 'errorRepoDigest',
    });
  });
});
