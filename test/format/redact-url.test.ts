import {expect, test} from 'vitest';
import {redactUrl, redactUrlText} from '../../src/format/redact-url.js';

test.each([
  ['https://host/path?', 'https://host/path'],
  ['https://host/path#hunter2', 'https://host/path#***'],
  ['https://me:hunter2@host/', 'https://me:***@host/'],
  ['https://hunter2@host/', 'https://***@host/'],
  ['https://host/?token=hunter2', 'https://host/?token=***'],
  ['https://host/?a=hunter2&b=hunter2=&hunter2&', 'https://host/?a=***&b=***&***&'],
  ['https://host/?=hunter2', 'https://host/?=***'],
])('redactUrl(%j) is %j', (url, expected) => {
  expect(redactUrl(new URL(url))).toBe(expected);
});

test.each([
  ['https://me:hunter2@host/?token=hunter2', 'https://me:***@host/?token=***'],
  ['htps//me:hunter2@host/x?hunter2', 'htps//***@host/x?***'],
  ['htps//host/x?a=hunter2#hunter2', 'htps//host/x?a=***#***'],
  ['/m', '/m'],
  ['', ''],
])('redactUrlText(%j) is %j', (text, expected) => {
  expect(redactUrlText(text)).toBe(expected);
});
