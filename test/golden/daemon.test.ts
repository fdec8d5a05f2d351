import {describe} from 'vitest';
import {describeDaemon} from './daemon-cases.js';

describe('on a runtime that tells of what happens in it', () => {
  describeDaemon({hasEvents: true});
});
