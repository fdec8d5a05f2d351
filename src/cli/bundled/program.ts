/** What the bundle gives to who starts it: bin/kcri.js, and the tests. */
export {interruption} from '../interrupt.js';
export {main} from '../main.js';
