import {expect, test} from 'vitest';
import {
  imageMount,
  overlayLayers,
  readOnlyMount,
  writableMount,
} from '../../../src/operations/files/mount-commands.js';

const OVERLAY = {
  type: 'overlay',
  source: 'overlay',
  options: [
    'index=off',
    'userxattr',
    'workdir=/lib/snapshots/9/work',
    'upperdir=/lib/snapshots/9/fs',
    'lowerdir=/lib/snapshots/8/fs:/lib/snapshots/7/fs',
  ],
};

test('an overlay is mounted for writing as the runtime mounts it, with short paths of its layers', () => {
  expect(writableMount(OVERLAY)).toEqual({
    ...OVERLAY,
    directory: '/lib/snapshots',
    options: [...OVERLAY.options.slice(0, -1), 'lowerdir=8/fs:7/fs'],
  });
});

test('an overlay is read through a mount that cannot change its upper layer', () => {
  expect(readOnlyMount(OVERLAY)).toEqual({
    type: 'overlay',
    source: 'overlay',
    directory: '/lib/snapshots',
    options: ['ro', 'index=off', 'userxattr', 'lowerdir=9/fs:8/fs:7/fs'],
  });
});

test('the image of an overlay is its lower layers, or a bind mount of the only one', () => {
  expect(imageMount(OVERLAY)?.options).toContain('lowerdir=8/fs:7/fs');
  const single = {...OVERLAY, options: ['upperdir=/u', 'workdir=/w', 'lowerdir=/only']};
  expect(imageMount(single)).toEqual({
    type: 'none',
    source: '/only',
    options: ['bind', 'ro'],
    directory: '/',
  });
});

test('other filesystems are mounted as they are, without options that mount(8) does not have', () => {
  const bind = {
    type: 'bind',
    source: '/lib/native/1',
    options: ['rbind', 'rw', 'uidmap=0:1:2', 'gidmap=0:1:2'],
  };
  expect(readOnlyMount(bind)).toEqual({...bind, options: ['rbind', 'ro'], directory: '/'});
  expect(writableMount(bind)).toEqual({...bind, options: ['rbind', 'rw'], directory: '/'});
  expect(imageMount(bind)).toBeUndefined();
});

test('paths of layers may contain an escaped colon', () => {
  const {lowers} = overlayLayers({...OVERLAY, options: [String.raw`lowerdir=/a\:b:/c`]}) ?? {};
  expect(lowers).toEqual([String.raw`/a\:b`, '/c']);
});
