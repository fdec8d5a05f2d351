import {describe} from 'vitest';
import {describeDaemon} from './daemon-cases.js';

describe('on a runtime that has to be listed again and again', () => {
  describeDaemon({hasEvents: false});
});
