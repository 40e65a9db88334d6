#!/bin/sh
# suite: ci
# A library over MPI called from Fortran: its module, column-major arrays and sections of them, an integer communicator from a split.
. "$(dirname "$0")/../cmd/common"
mpi_builds
command -v mpifort >/dev/null && command -v gfortran >/dev/null || {
  echo "no gfortran: not tested"
  exit 77
}

cat >att.ein <<'END'
dim S = 22, D = 6
input Q[s:S,d:D] : f64
input q[t:S,d:D] : f32
input shift[t:S] : i64 = 2*t
input on[s:S] : bool
input gain : f64
output W[s,t] : f64 = if on[s] then gain * (sum[d] Q[s,d]*f64(q[t,d])) + shift[t] else -1
output best[s] : i64 = argmax[t] W[s,t]
output total = sum[s,t] W[s,t]
END
cat >caller.f90 <<'END'
module made
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: S = 22, D = 6
contains
  real(8) function of_q(i, k)
    integer(8), intent(in) :: i, k
    of_q = real(mod(i * 7 + k * 5, 11_8) - 5, 8)
  end function
  real(8) function wanted(i, j)
    integer(8), intent(in) :: i, j
    integer(8) :: k
    wanted = -1
    if (mod(i, 3_8) == 0) return
    wanted = 2 * j
    do k = 0, D - 1
      wanted = wanted + 0.5d0 * of_q(i, k) * of_q(j, k + 1)
    end do
  end function
end module

program main
  use made
  use att_mpi
  implicit none
  include 'mpif.h'
  integer :: rank, ranks, comm, code, ierr, i
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Comm_split(MPI_COMM_WORLD, merge(0, 1, rank < 3), -rank, comm, ierr)
  code = 0
  if (rank < 3) call library(comm, code)
  if (rank >= 3) then
    do i = 1, 300
      call talk(comm, code)
    end do
  end if
  call MPI_Allreduce(MPI_IN_PLACE, code, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
  if (code == 0 .and. rank == 0) print '(a)', 'all is well'
  call MPI_Finalize(ierr)
contains
  subroutine talk(comm, code)
    integer, intent(in) :: comm
    integer, intent(inout) :: code
    integer :: me, n, got, ierr, status(MPI_STATUS_SIZE)
    call MPI_Comm_rank(comm, me, ierr)
    call MPI_Comm_size(comm, n, ierr)
    call MPI_Sendrecv(me, 1, MPI_INTEGER, mod(me + 1, n), 0, got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0, comm, status, ierr)
    if (got /= mod(me + n - 1, n)) code = 9
  end subroutine

  subroutine library(comm, code)
    integer, intent(in) :: comm
    integer, intent(out) :: code
    type(att_context) :: ctx
    integer :: me, turn
    call MPI_Comm_rank(comm, me, ierr)
    call ctx%create(comm, code, threads=1)
    if (code /= 0) print '(2a)', 'create: ', ctx%error()
    do turn = 1, 20
      if (code == 0) call blocks(ctx, me, turn, code)
      if (code == 0) call whole(ctx, me, code)
    end do
    if (ctx%workspace_bytes() < 0) code = 8
    call ctx%destroy()
  end subroutine

  ! Q is every second row of what is there, and W a section too.
  subroutine blocks(ctx, me, turn, code)
    type(att_context), intent(in) :: ctx
    integer, intent(in) :: me, turn
    integer, intent(out) :: code
    type(att_inputs) :: x
    type(att_outputs) :: y
    integer(8) :: low(2, 5), n(2, 5), i, j
    integer :: bad(5)
    real(8), allocatable, target :: Q(:, :), W(:, :)
    real(4), allocatable, target :: K(:, :)
    logical(c_bool), allocatable, target :: on(:)
    integer(8), allocatable, target :: best(:)
    real(8), target :: gain, total
    call ctx%extent('Q', me, low(:, 1), n(:, 1), bad(1))
    call ctx%extent('q_2', me, low(:, 2), n(:, 2), bad(2))
    call ctx%extent('on', me, low(1:1, 3), n(1:1, 3), bad(3))
    call ctx%extent('W', me, low(:, 4), n(:, 4), bad(4))
    call ctx%extent('best', me, low(1:1, 5), n(1:1, 5), bad(5))
    code = maxval(bad)
    if (code /= 0) return
    allocate (Q(2 * n(1, 1), n(2, 1)), K(n(1, 2), n(2, 2)), on(n(1, 3)), W(n(1, 4), 3 * n(2, 4)), best(n(1, 5)))
    Q = 1e30
    do j = 1, n(2, 1)
      do i = 1, n(1, 1)
        Q(2 * i - 1, j) = of_q(low(1, 1) + i - 1, low(2, 1) + j - 1)
      end do
    end do
    do j = 1, n(2, 2)
      do i = 1, n(1, 2)
        K(i, j) = real(of_q(low(1, 2) + i - 1, low(2, 2) + j), 4)
      end do
    end do
    do i = 1, n(1, 3)
      on(i) = mod(low(1, 3) + i - 1, 3_8) /= 0
    end do
    gain = 0.5d0
    W = 7
    call x%Q(Q(::2, :))
    call x%q_2(K)
    call x%on(on)
    call x%gain(gain)
    call y%W(W(:, ::3))
    call y%best(best)
    call y%total(total)
    call ctx%run(x, y, code)
    if (code /= 0) print '(2a)', 'run: ', ctx%error()
    if (code == 0 .and. mod(turn, 2) == 0) call ctx%again(code)
    do j = 1, n(2, 4)
      do i = 1, n(1, 4)
        if (W(i, 3 * j - 2) /= wanted(low(1, 4) + i - 1, low(2, 4) + j - 1)) code = 5
        if (W(i, 3 * j - 1) /= 7) code = 6
      end do
    end do
    if (code == 5) print '(a)', 'wrong block'
    if (code == 6) print '(a)', 'written beside a section'
  end subroutine

  subroutine whole(ctx, me, code)
    type(att_context), intent(in) :: ctx
    integer, intent(in) :: me
    integer, intent(out) :: code
    type(att_inputs) :: x
    type(att_outputs) :: y
    real(8), target :: Q(S, D), W(S, S), gain, total
    real(4), target :: K(S, D)
    logical(c_bool), target :: on(S)
    integer(8), target :: best(S), shift(S)
    integer(8) :: i, j
    do j = 1, D
      do i = 1, S
        Q(i, j) = of_q(i - 1, j - 1)
        K(i, j) = real(of_q(i - 1, j), 4)
      end do
    end do
    on = [(mod(i - 1, 3_8) /= 0, i = 1, S)]
    shift = [(2 * i - 2, i = 1, S)]
    gain = 0.5d0
    if (me == 0) then
      call x%Q(Q)
      call x%q_2(K)
      call x%on(on)
      call x%shift(shift)
      call x%gain(gain)
      call y%W(W)
      call y%best(best)
      call y%total(total)
    end if
    call ctx%run_whole(x, y, code)
    if (code /= 0) print '(2a)', 'run_whole: ', ctx%error()
    if (code /= 0 .or. me /= 0) return
    do j = 1, S
      do i = 1, S
        if (W(i, j) /= wanted(i - 1, j - 1)) code = 5
      end do
    end do
    do i = 1, S
      if (best(i) /= maxloc(W(i, :), 1) - 1) code = 7
    end do
    if (total /= sum(W)) code = 7
    if (code /= 0) print '(a)', 'wrong whole'
  end subroutine
end program
END
want 0 "$EIN" build att.ein --lib --target=mpi -n 3,4 --flags=-O1 -o lib/
want 0 mpifort -Wall -Werror -std=f2008 -fall-intrinsics -c lib/att_mpi.f90
want 0 mpifort -g -fcheck=all -Wall lib/att_mpi.f90 caller.f90 -Llib -latt -lm -fopenmp -o caller
want 0 ranks 3 ./caller
shows 'all is well'
want 0 ranks 5 ./caller
shows 'all is well'

# as many arguments as do not fit a line
many=$(seq -s ', ' -f 'a%g' 40)
printf 'input %s : f64\noutput b = %s\n' "$many" "$(echo "$many" | sed 's/,/ +/g')" >many.ein
want 0 "$EIN" build many.ein --lib --target=mpi -n 2 --flags=-O0 -o many/
want 0 mpifort -Wall -Werror -std=f2008 -fall-intrinsics -c many/many_mpi.f90
finish
