import {PassThrough, type Writable} from 'node:stream';
import {pipeReadableTo, type RemoteOutput} from '../../src/streaming/session/remote-output.js';

/** Output of a remote end, which emits what is written to it. */
export class FakeRemoteOutput extends PassThrough implements RemoteOutput {
  async pipeTo(target: Writable): Promise<void> {
    await pipeReadableTo(this, target);
  }
}
