/** Architecture that has a pause program, named as in `process.arch`. */
export type PauseArchitecture = 'x64' | 'arm64';

/** ELF machine number and instructions of an architecture. */
interface Machine {
  readonly elfMachine: number;
  readonly code: readonly number[];
}

/*
 * The program per architecture: block SIGINT, SIGTERM and SIGCHLD, then wait for one of them in a loop; at SIGINT or SIGTERM
 * exit with 0, otherwise reap all children that have ended. Blocked signals reach the waiting process even as PID 1 of a
 * namespace, where the kernel drops signals without a handler. 0x14002 is the signal set.
 */
const X64_CODE = [
  [0x68, 0x02, 0x40, 0x01, 0x00], //       push 0x14002
  [0xb8, 0x0e, 0x00, 0x00, 0x00], //       mov eax, 14 (rt_sigprocmask)
  [0x31, 0xff], //                         xor edi, edi (SIG_BLOCK)
  [0x48, 0x89, 0xe6], //                   mov rsi, rsp
  [0x31, 0xd2], //                         xor edx, edx
  [0x41, 0xba, 0x08, 0x00, 0x00, 0x00], // mov r10d, 8
  [0x0f, 0x05], //                         syscall
  [0xb8, 0x80, 0x00, 0x00, 0x00], // wait: mov eax, 128 (rt_sigtimedwait)
  [0x48, 0x89, 0xe7], //                   mov rdi, rsp
  [0x31, 0xf6], //                         xor esi, esi
  [0x31, 0xd2], //                         xor edx, edx
  [0x41, 0xba, 0x08, 0x00, 0x00, 0x00], // mov r10d, 8
  [0x0f, 0x05], //                         syscall
  [0x83, 0xf8, 0x02], //                   cmp eax, 2 (SIGINT)
  [0x74, 0x1f], //                         je exit
  [0x83, 0xf8, 0x0f], //                   cmp eax, 15 (SIGTERM)
  [0x74, 0x1a], //                         je exit
  [0xb8, 0x3d, 0x00, 0x00, 0x00], // reap: mov eax, 61 (wait4)
  [0x83, 0xcf, 0xff], //                   or edi, -1
  [0x31, 0xf6], //                         xor esi, esi
  [0xba, 0x01, 0x00, 0x00, 0x00], //       mov edx, 1 (WNOHANG)
  [0x45, 0x31, 0xd2], //                   xor r10d, r10d
  [0x0f, 0x05], //                         syscall
  [0x85, 0xc0], //                         test eax, eax
  [0x7f, 0xe8], //                         jg reap
  [0xeb, 0xc8], //                         jmp wait
  [0xb8, 0x3c, 0x00, 0x00, 0x00], // exit: mov eax, 60 (exit)
  [0x31, 0xff], //                         xor edi, edi
  [0x0f, 0x05], //                         syscall
];

const ARM64_CODE = [
  0x52880049, //       mov w9, #0x4002
  0x72a00029, //       movk w9, #1, lsl #16
  0xf81f0fe9, //       str x9, [sp, #-16]!
  0xd28010e8, //       mov x8, #135 (rt_sigprocmask)
  0xd2800000, //       mov x0, #0 (SIG_BLOCK)
  0x910003e1, //       mov x1, sp
  0xd2800002, //       mov x2, #0
  0xd2800103, //       mov x3, #8
  0xd4000001, //       svc #0
  0xd2801128, // wait: mov x8, #137 (rt_sigtimedwait)
  0x910003e0, //       mov x0, sp
  0xd2800001, //       mov x1, #0
  0xd2800002, //       mov x2, #0
  0xd2800103, //       mov x3, #8
  0xd4000001, //       svc #0
  0x7100081f, //       cmp w0, #2 (SIGINT)
  0x54000180, //       b.eq exit
  0x71003c1f, //       cmp w0, #15 (SIGTERM)
  0x54000140, //       b.eq exit
  0xd2802088, // reap: mov x8, #260 (wait4)
  0x12800000, //       mov w0, #-1
  0xd2800001, //       mov x1, #0
  0xd2800022, //       mov x2, #1 (WNOHANG)
  0xd2800003, //       mov x3, #0
  0xd4000001, //       svc #0
  0x7100001f, //       cmp w0, #0
  0x54ffff2c, //       b.gt reap
  0x17ffffee, //       b wait
  0x52800000, // exit: mov w0, #0
  0xd2800ba8, //       mov x8, #93 (exit)
  0xd4000001, //       svc #0
];

const MACHINES = {
  x64: {elfMachine: 62, code: X64_CODE.flat()},
  arm64: {elfMachine: 183, code: ARM64_CODE.flatMap((word) => [...littleEndian(word)])},
} as const satisfies Record<PauseArchitecture, Machine>;

const LOAD_ADDRESS = 0x40_0000n;
const ELF_HEADER_SIZE = 64;
const PROGRAM_HEADER_SIZE = 56;
const CODE_OFFSET = ELF_HEADER_SIZE + PROGRAM_HEADER_SIZE;

/** Reports whether a pause program exists for the architecture. */
export function isPauseArchitecture(architecture: string): architecture is PauseArchitecture {
  return Object.hasOwn(MACHINES, architecture);
}

/**
 * Returns a static Linux executable that works like the `pause` program of sandbox images: it keeps the pod's
 * namespaces, reaps orphaned processes if the pod shares its PID namespace, and exits with 0 at SIGINT or SIGTERM.
 */
export function buildPauseProgram(architecture: PauseArchitecture): Uint8Array {
  const {elfMachine, code} = MACHINES[architecture];
  const file = Buffer.alloc(CODE_OFFSET + code.length);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1], 0); // "\x7fELF", 64 bit, little endian, version 1
  file.writeUInt16LE(2, 16); // an executable
  file.writeUInt16LE(elfMachine, 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(LOAD_ADDRESS + BigInt(CODE_OFFSET), 24); // entry point
  file.writeBigUInt64LE(BigInt(ELF_HEADER_SIZE), 32); // where the program header is
  file.writeUInt16LE(ELF_HEADER_SIZE, 52);
  file.writeUInt16LE(PROGRAM_HEADER_SIZE, 54);
  file.writeUInt16LE(1, 56); // one program header
  file.set(programHeader(file.length), ELF_HEADER_SIZE);
  file.set(code, CODE_OFFSET);
  return file;
}

/** Returns the program header of one segment: the whole file, readable and executable. */
function programHeader(fileSize: number): Uint8Array {
  const header = Buffer.alloc(PROGRAM_HEADER_SIZE);
  header.writeUInt32LE(1, 0); // loaded
  header.writeUInt32LE(5, 4); // read + execute
  header.writeBigUInt64LE(LOAD_ADDRESS, 16);
  header.writeBigUInt64LE(LOAD_ADDRESS, 24);
  header.writeBigUInt64LE(BigInt(fileSize), 32);
  header.writeBigUInt64LE(BigInt(fileSize), 40);
  header.writeBigUInt64LE(0x1_0000n, 48); // alignment: the largest page size of arm64
  return header;
}

function littleEndian(word: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(word);
  return bytes;
}
