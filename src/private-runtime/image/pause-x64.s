/*
 * Blocks SIGINT, SIGTERM and SIGCHLD, then waits for one of them in a loop; at SIGINT or SIGTERM it exits with 0, otherwise
 * it reaps all children that have ended. Blocked signals reach the waiting process even as PID 1 of a namespace, where the
 * kernel drops signals without a handler. `node scripts/pause-program.mjs` builds it.
 */
        .intel_syntax noprefix
        .set machine, 62
        .include "pause-elf.s"
        push 0x14002                    /* the signal set */
        mov eax, 14                     /* rt_sigprocmask */
        xor edi, edi                    /* SIG_BLOCK */
        mov rsi, rsp
        xor edx, edx
        mov r10d, 8
        syscall
wait:   mov eax, 128                    /* rt_sigtimedwait */
        mov rdi, rsp
        xor esi, esi
        xor edx, edx
        mov r10d, 8
        syscall
        cmp eax, 2                      /* SIGINT */
        je exit
        cmp eax, 15                     /* SIGTERM */
        je exit
reap:   mov eax, 61                     /* wait4 */
        or edi, -1
        xor esi, esi
        mov edx, 1                      /* WNOHANG */
        xor r10d, r10d
        syscall
        test eax, eax
        jg reap
        jmp wait
exit:   mov eax, 60                     /* exit */
        xor edi, edi
        syscall
end:
