import {expect, test} from 'vitest';
import {parseLabelSelector} from '../../../src/features/pods/label-selector.js';

const LABELS = {app: 'web', tier: 'front', 'example.com/x': ''};

test.each([
  ['', true],
  ['app=web', true],
  ['app==web', true],
  ['app=db', false],
  ['app!=db', true],
  ['app!=web', false],
  ['missing!=x', true],
  ['app=web,tier=front', true],
  ['app=web,tier=back', false],
  ['app in (db, web)', true],
  ['app in (db)', false],
  ['missing in ()', false],
  ['app notin (db,cache),tier', true],
  ['app notin (web)', false],
  ['missing notin (web)', true],
  ['example.com/x', true],
  ['example.com/x=', true],
  ['!app', false],
  ['!missing', true],
  ['constructor', false],
])('%s matches: %s', (text, matches) => {
  expect(parseLabelSelector(text)(LABELS)).toBe(matches);
});

test.each(['=x', 'a=b=c', 'a in b', 'a in (b', 'a b', '!'])('%s is rejected', (text) => {
  expect(() => parseLabelSelector(text)).toThrow(`invalid label selector "${text}" at`);
});
