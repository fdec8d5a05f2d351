import {describe, expect, test} from 'vitest';
import {startServerTestbed} from '../server-testbed.js';

describe('/debug/flags/v', () => {
  test.each([
    ['PUT', '4', 200, 'successfully set klog.logging.verbosity to 4', [4]],
    ['GET', undefined, 406, 'unsupported http method', []],
    ['PUT', '', 400, 'strconv.ParseUint: parsing "": invalid syntax', []],
    ['PUT', '-1', 400, 'strconv.ParseUint: parsing "-1": invalid syntax', []],
    ['PUT', '4294967296', 400, 'strconv.ParseUint: parsing "4294967296": value out of range', []],
    [
      'PUT',
      '2147483648',
      400,
      'failed set klog.logging.verbosity 2147483648: strconv.ParseInt: parsing "2147483648": value out of range',
      [],
    ],
  ])('%s %j is answered with %i and sets the verbosity', async (...[method, body, status, text, levels]) => {
    const set: number[] = [];
    const {request} = await startServerTestbed({options: {setVerbosity: (level) => void set.push(level)}});
    expect(await request('/debug/flags/v', {method, body})).toMatchObject({status, body: `${text}\n`});
    expect(set).toEqual(levels);
  });

  test('is refused if enableDebugFlagsHandler is false', async () => {
    const {request} = await startServerTestbed({options: {setVerbosity: undefined}});
    expect(await request('/debug/flags/v', {method: 'PUT', body: '4'})).toMatchObject({
      status: 405,
      body: 'flags endpoint is disabled.\n',
    });
  });
});
