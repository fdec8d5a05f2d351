import {expect, test} from 'vitest';
import {parseImageName, withDefaultTag} from '../../src/base/parse-image-name.js';

const digest = `sha256:${'a'.repeat(64)}`;

test.each([
  ['busybox', 'busybox:latest', 'docker.io/library/busybox'],
  ['team/app', 'team/app:latest', 'docker.io/team/app'],
  ['index.docker.io/app', 'index.docker.io/app:latest', 'docker.io/library/app'],
  ['busybox:1.36', 'busybox:1.36', 'docker.io/library/busybox'],
  ['localhost/busybox', 'localhost/busybox:latest', 'localhost/busybox'],
  ['localhost:5000/busybox', 'localhost:5000/busybox:latest', 'localhost:5000/busybox'],
  [
    'registry.example:5000/team/app_1/web-2:v1',
    'registry.example:5000/team/app_1/web-2:v1',
    'registry.example:5000/team/app_1/web-2',
  ],
  ['UPPER/case', 'UPPER/case:latest', 'UPPER/case'],
  [`busybox@${digest}`, `busybox@${digest}`, 'docker.io/library/busybox'],
  [`busybox:1@${digest}`, `busybox:1@${digest}`, 'docker.io/library/busybox'],
  ['[::1]:5000/busybox', '[::1]:5000/busybox:latest', '[::1]:5000/busybox'],
])('%s is pulled as %s from %s', (image, tagged, repository) => {
  const parsed = parseImageName(image);
  expect(parsed).toMatchObject({kind: 'name', name: {repository}});
  expect(parsed.kind === 'name' && withDefaultTag(image, parsed.name)).toBe(tagged);
});

test.each([
  ['Bad Name', 'invalid reference format: repository name (library/Bad Name) must be lowercase'],
  ['localhost:5000/UPPER:1', 'invalid reference format: repository name (UPPER) must be lowercase'],
  ['UPPER', 'invalid reference format: repository name (library/UPPER) must be lowercase'],
  ['busybox:', 'invalid reference format'],
  ['busybox@sha256:short', 'invalid reference format'],
  ['', 'invalid reference format'],
  ['a//b', 'invalid reference format'],
  ['a'.repeat(64), `invalid repository name (${'a'.repeat(64)}), cannot specify 64-byte hexadecimal strings`],
  [`r.example/${'a'.repeat(256)}`, 'repository name must not be more than 255 characters'],
  [`busybox@md5:${'a'.repeat(32)}`, 'unsupported digest algorithm'],
  [`busybox@sha256:${'a'.repeat(63)}`, 'invalid checksum digest length'],
  [`busybox@sha256:${'A'.repeat(64)}`, 'invalid checksum digest format'],
])('%j is rejected: %s', (image, problem) => {
  expect(parseImageName(image)).toEqual({kind: 'invalid', problem});
});
