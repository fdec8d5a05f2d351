import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {CHECKOUT_DISK, RESULTS_DISK} from './guest-unit.mjs';

const MEMORY = '3G';
/** Two processors for the tests that need them, which share one thread and thus use one processor of this machine. */
const PROCESSORS = '2';

/**
 * Boots the virtual machine, without KVM, and resolves with QEMU's exit code when it is powered off. What the tests print goes to
 * `output`, messages of the kernel and systemd to the file `console`. Writes to the root disk are lost at the end.
 * QEMU ends with this process, with `signal`, and on Ctrl-C, which a terminal sends to it, too.
 *
 * @param {{disk: string, kernel: string, initrd: string, checkout: string, results: string, console: string}} files
 * @param {NodeJS.WritableStream} output
 * @param {AbortSignal} signal
 * @returns {Promise<number>}
 */
export async function runMachine(files, output, signal) {
  // On SIGKILL of this process, nothing else would end QEMU.
  const command = ['setpriv', '--pdeathsig', 'KILL', 'qemu-system-x86_64', ...machineArgs(files)];
  const [program, ...args] = command;
  const qemu = spawn(program, args, {stdio: ['ignore', 'pipe', 'inherit']});
  const end = () => qemu.kill('SIGKILL');
  signal.addEventListener('abort', end);
  try {
    qemu.stdout.pipe(output, {end: false});
    if (signal.aborted) end();
    const [code] = await once(qemu, 'close');
    return code ?? 1;
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

function machineArgs({disk, kernel, initrd, checkout, results, console}) {
  return [
    ...['-accel', 'tcg,thread=single', '-cpu', 'max', '-smp', PROCESSORS, '-m', MEMORY],
    ...['-nodefaults', '-no-user-config', '-no-reboot', '-display', 'none', '-nic', 'none'],
    ...['-device', 'virtio-rng-pci'],
    ...['-serial', `file:${console}`, '-serial', 'stdio'],
    ...['-kernel', kernel, '-initrd', initrd],
    ...['-append', 'root=/dev/vda rw console=ttyS0 quiet panic=-1 mitigations=off no_timer_check'],
    ...diskArgs('root', disk, 'cache=unsafe,snapshot=on'),
    ...diskArgs(CHECKOUT_DISK, checkout, 'readonly=on'),
    ...diskArgs(RESULTS_DISK, results, 'cache=unsafe'),
  ];
}

/** Returns the flags of a disk that is /dev/disk/by-id/virtio-NAME in the machine. */
function diskArgs(name, file, options) {
  return [
    ...['-drive', `if=none,id=${name},format=raw,file=${file},${options}`],
    ...['-device', `virtio-blk-pci,drive=${name},serial=${name}`],
  ];
}
