/* The same as pause-x64.s. */
        .set machine, 183
        .include "pause-elf.s"
        mov w9, #0x4002                 /* the signal set 0x14002 */
        movk w9, #1, lsl #16
        str x9, [sp, #-16]!
        mov x8, #135                    /* rt_sigprocmask */
        mov x0, #0                      /* SIG_BLOCK */
        mov x1, sp
        mov x2, #0
        mov x3, #8
        svc #0
wait:   mov x8, #137                    /* rt_sigtimedwait */
        mov x0, sp
        mov x1, #0
        mov x2, #0
        mov x3, #8
        svc #0
        cmp w0, #2                      /* SIGINT */
        b.eq exit
        cmp w0, #15                     /* SIGTERM */
        b.eq exit
reap:   mov x8, #260                    /* wait4 */
        mov w0, #-1
        mov x1, #0
        mov x2, #1                      /* WNOHANG */
        mov x3, #0
        svc #0
        cmp w0, #0
        b.gt reap
        b wait
exit:   mov w0, #0
        mov x8, #93                     /* exit */
        svc #0
end:
