// Projected Levenberg-Marquardt descent on a pose error; see ik_kernels.py, whose steps these are. One thread descends
// from one starting point to one target. JOINTS and REAL, the type of the descent, are settings of the build; the
// errors that are told are computed with 64 bits whatever REAL is.

#ifdef __CUDACC__
#define DEVICE __device__ __forceinline__
#define THREAD (blockIdx.x * (long long)blockDim.x + threadIdx.x)
#define ENTRY extern "C" __global__ void __launch_bounds__(128)
#define CONSTANT __constant__
#else
#include <cmath>
#define CONSTANT static
#define DEVICE static inline
#define THREAD thread_number
#define ENTRY static void
static long long thread_number;
using std::max;
using std::min;
#endif

typedef REAL real;

DEVICE float root(float x) { return sqrtf(x); }
DEVICE double root(double x) { return sqrt(x); }
DEVICE float turn_of(float y, float x) { return atan2f(y, x); }
DEVICE double turn_of(double y, double x) { return atan2(y, x); }
DEVICE void sine_cosine(float q, float& s, float& c) { sincosf(q, &s, &c); }
DEVICE void sine_cosine(double q, double& s, double& c) { sincos(q, &s, &c); }
DEVICE float size_of(float x) { return fabsf(x); }
DEVICE double size_of(double x) { return fabs(x); }

// The request, the same for all targets; every array as IkProblem and ChainArrays have it.
template <class T> struct Problem {
    T lower[JOINTS], upper[JOINTS], middle[JOINTS], prismatic[JOINTS];
    T rotations[(JOINTS + 1) * 9], positions[(JOINTS + 1) * 3];
    T tool_axis[3], position_axes[3];
    T orientation, partial, position_tolerance, rotation_tolerance, rotation_weight;
    T iterations, seed_bias, limit_bias, bias_steps;
};

// What is the same for all threads lies where the card hands it to instructions without loading it.
extern "C" {
CONSTANT Problem<real> request;
CONSTANT Problem<double> exact_request;
}

template <class T> struct Pose {
    T R[9], p[3];
};

template <class T> DEVICE void append(Pose<T>& pose, const T* F, const T* f) {
#pragma unroll
    for (int i = 0; i < 3; i++) {
        T a = pose.R[3 * i], b = pose.R[3 * i + 1], c = pose.R[3 * i + 2];
        pose.p[i] += a * f[0] + b * f[1] + c * f[2];
#pragma unroll
        for (int j = 0; j < 3; j++) pose.R[3 * i + j] = a * F[j] + b * F[3 + j] + c * F[6 + j];
    }
}

// Pose of the tool and, where they are asked for, of every joint axis, all in the base frame.
template <class T, bool AXES>
DEVICE void forward(const Problem<T>& problem, const T* q, Pose<T>& pose, T (*axes)[3], T (*origins)[3]) {
#pragma unroll
    for (int i = 0; i < 9; i++) pose.R[i] = i % 4 == 0;
    pose.p[0] = pose.p[1] = pose.p[2] = 0;
#pragma unroll
    for (int k = 0; k < JOINTS; k++) {
        append(pose, problem.rotations + 9 * k, problem.positions + 3 * k);
        if (AXES)
#pragma unroll
            for (int i = 0; i < 3; i++) axes[k][i] = pose.R[3 * i + 2], origins[k][i] = pose.p[i];
        if (problem.prismatic[k] != 0) {
#pragma unroll
            for (int i = 0; i < 3; i++) pose.p[i] += pose.R[3 * i + 2] * q[k];
        } else {
            T s, c;
            sine_cosine(q[k], s, c);
#pragma unroll
            for (int i = 0; i < 3; i++) {
                T x = pose.R[3 * i], y = pose.R[3 * i + 1];
                pose.R[3 * i] = c * x + s * y;
                pose.R[3 * i + 1] = c * y - s * x;
            }
        }
    }
    append(pose, problem.rotations + 9 * JOINTS, problem.positions + 3 * JOINTS);
}

// The rotation vector that takes R to G, half a turn apart. Indices are known when it is compiled, here and below: an
// array with any other would leave the registers.
template <class T> DEVICE void half_turn(const T* G, const T* R, T* e) {
    T largest = -2;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        T row[3], squared = 0;
#pragma unroll
        for (int i = 0; i < 3; i++) {
            row[i] = G[3 * k] * R[3 * i] + G[3 * k + 1] * R[3 * i + 1] + G[3 * k + 2] * R[3 * i + 2];
            if (i == k && !(row[i] > largest)) squared = -1;
        }
        if (squared < 0) continue;
        largest = row[k];
        row[k] += 1;
        T scale = (T)3.141592653589793 / root(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
#pragma unroll
        for (int i = 0; i < 3; i++) e[i] = scale * row[i];
    }
}

template <class T> DEVICE T rotation_between(const T* G, const T* R, T* e) {
    T x = 0, y = 0, z = 0, trace = 0;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        x += G[6 + k] * R[3 + k] - G[3 + k] * R[6 + k];
        y += G[k] * R[6 + k] - G[6 + k] * R[k];
        z += G[3 + k] * R[k] - G[k] * R[3 + k];
        trace += G[k] * R[k] + G[3 + k] * R[3 + k] + G[6 + k] * R[6 + k];
    }
    T sine = (T)0.5 * root(x * x + y * y + z * z), cosine = (T)0.5 * (trace - 1);
    T angle = turn_of(sine, cosine);
    if (sine > (T)1e-9) {
        T scale = (T)0.5 * angle / sine;
        e[0] = scale * x, e[1] = scale * y, e[2] = scale * z;
    } else if (cosine > 0) e[0] = e[1] = e[2] = 0;
    else half_turn(G, R, e);
    return angle;
}

// The smallest rotation that turns the tool axis to where the target has it; its present direction goes to ``current``.
template <class T> DEVICE T axis_between(const Problem<T>& problem, const T* G, const T* R, T* e, T* current) {
    T goal[3];
    for (int i = 0; i < 3; i++) {
        current[i] = goal[i] = 0;
        for (int j = 0; j < 3; j++) {
            current[i] += R[3 * i + j] * problem.tool_axis[j];
            goal[i] += G[3 * i + j] * problem.tool_axis[j];
        }
    }
    T x = current[1] * goal[2] - current[2] * goal[1];
    T y = current[2] * goal[0] - current[0] * goal[2];
    T z = current[0] * goal[1] - current[1] * goal[0];
    T sine = root(x * x + y * y + z * z);
    T cosine = current[0] * goal[0] + current[1] * goal[1] + current[2] * goal[2];
    T angle = turn_of(sine, cosine);
    if (sine > (T)1e-9) e[0] = angle / sine * x, e[1] = angle / sine * y, e[2] = angle / sine * z;
    else if (cosine > 0) e[0] = e[1] = e[2] = 0;
    else {
        // Exactly opposite: any perpendicular axis will do; take one built from the smallest component.
        T a = size_of(current[0]), b = size_of(current[1]), c = size_of(current[2]), pi = (T)3.141592653589793;
        if (a <= b && a <= c) {
            T length = root(current[1] * current[1] + current[2] * current[2]);
            e[0] = 0, e[1] = pi * current[2] / length, e[2] = -pi * current[1] / length;
        } else if (b <= c) {
            T length = root(current[2] * current[2] + current[0] * current[0]);
            e[1] = 0, e[2] = pi * current[0] / length, e[0] = -pi * current[2] / length;
        } else {
            T length = root(current[0] * current[0] + current[1] * current[1]);
            e[2] = 0, e[0] = pi * current[1] / length, e[1] = -pi * current[0] / length;
        }
    }
    return angle;
}

#define FULL 1
#define AXIS 2

// The weighted residual of a pose; distance and angle that count.
template <class T>
DEVICE void pose_residual(
    const Problem<T>& problem, const Pose<T>& goal, const Pose<T>& pose, T* e, T* current, T& distance, T& angle) {
    for (int i = 0; i < 3; i++) e[i] = goal.p[i] - pose.p[i];
    if (problem.partial != 0) {
        T x = e[0], y = e[1], z = e[2];
        for (int i = 0; i < 3; i++)
            e[i] = problem.position_axes[i] * (goal.R[i] * x + goal.R[3 + i] * y + goal.R[6 + i] * z);
    }
    distance = root(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    angle = 0;
    if (problem.orientation == FULL) angle = rotation_between(goal.R, pose.R, e + 3);
    else if (problem.orientation == AXIS) angle = axis_between(problem, goal.R, pose.R, e + 3, current);
    else e[3] = e[4] = e[5] = 0;
    for (int i = 3; i < 6; i++) e[i] *= problem.rotation_weight;
}

template <class T>
DEVICE void pose_jacobian(
    const Problem<T>& problem, const Pose<T>& goal, const Pose<T>& pose, const T* current, T (*axes)[3], T (*origins)[3],
    T (*J)[6]) {
    T weight = problem.rotation_weight;
#pragma unroll
    for (int k = 0; k < JOINTS; k++) {
        T x = axes[k][0], y = axes[k][1], z = axes[k][2];
        if (problem.prismatic[k] != 0) {
            J[k][0] = x, J[k][1] = y, J[k][2] = z;
            J[k][3] = J[k][4] = J[k][5] = 0;
        } else {
            T a = pose.p[0] - origins[k][0], b = pose.p[1] - origins[k][1], c = pose.p[2] - origins[k][2];
            J[k][0] = y * c - z * b, J[k][1] = z * a - x * c, J[k][2] = x * b - y * a;
            J[k][3] = x, J[k][4] = y, J[k][5] = z;
        }
        if (problem.partial != 0) {
            T u = J[k][0], v = J[k][1], w = J[k][2];
            for (int i = 0; i < 3; i++)
                J[k][i] = problem.position_axes[i] * (goal.R[i] * u + goal.R[3 + i] * v + goal.R[6 + i] * w);
        }
        if (problem.orientation == FULL)
            for (int i = 3; i < 6; i++) J[k][i] *= weight;
        else if (problem.orientation == AXIS) {
            // Turning about the axis itself is free, so that component does not count.
            T along = J[k][3] * current[0] + J[k][4] * current[1] + J[k][5] * current[2];
            for (int i = 0; i < 3; i++) J[k][3 + i] = weight * (J[k][3 + i] - along * current[i]);
        } else J[k][3] = J[k][4] = J[k][5] = 0;
    }
}

// The gradient J'e; joints at a limit that it pushes further out are dropped.
template <class T>
DEVICE void freeze_at_limits(const Problem<T>& problem, const T* q, const T* e, T (*J)[6], T* gradient) {
#pragma unroll
    for (int k = 0; k < JOINTS; k++) {
        T g = 0;
        for (int i = 0; i < 6; i++) g += J[k][i] * e[i];
        bool frozen = (q[k] <= problem.lower[k] && g < 0) || (q[k] >= problem.upper[k] && g > 0);
        for (int i = 0; i < 6; i++) J[k][i] = frozen ? 0 : J[k][i];
        gradient[k] = frozen ? 0 : g;
    }
}

// Solve (J'J + damping I) x = gradient by Cholesky; the diagonal of H holds inverses.
template <class T> DEVICE void damped_step(T (*J)[6], const T* gradient, T damping, T* x) {
    T H[JOINTS][JOINTS];
#pragma unroll
    for (int a = 0; a < JOINTS; a++)
#pragma unroll
        for (int b = 0; b <= a; b++) {
            T s = a == b ? damping : 0;
#pragma unroll
            for (int i = 0; i < 6; i++) s += J[a][i] * J[b][i];
#pragma unroll
            for (int k = 0; k < b; k++) s -= H[a][k] * H[b][k];
            H[a][b] = a == b ? 1 / root(s) : s * H[b][b];
        }
#pragma unroll
    for (int a = 0; a < JOINTS; a++) {
        T s = gradient[a];
#pragma unroll
        for (int k = 0; k < a; k++) s -= H[a][k] * x[k];
        x[a] = s * H[a][a];
    }
#pragma unroll
    for (int a = JOINTS - 1; a >= 0; a--) {
        T s = x[a];
#pragma unroll
        for (int k = a + 1; k < JOINTS; k++) s -= H[k][a] * x[k];
        x[a] = s * H[a][a];
    }
}

template <class T> DEVICE T within(T x, T low, T high) { return min(max(x, low), high); }

// Lower the pose error from q, in place.
template <class T> DEVICE void descend(const Problem<T>& problem, const Pose<T>& goal, T* q, T& distance, T& angle) {
    T damping = (T)DAMPING_START, weight = problem.rotation_weight;
    T near_distance = problem.position_tolerance, near_angle = problem.rotation_tolerance;
    T axes[JOINTS][3], origins[JOINTS][3], J[JOINTS][6], e[6], gradient[JOINTS], step[JOINTS], trial[JOINTS], current[3];
    Pose<T> pose;
    forward<T, true>(problem, q, pose, axes, origins);
    pose_residual(problem, goal, pose, e, current, distance, angle);
    T cost = distance * distance + weight * angle * (weight * angle);
    for (int k = 0; k < (int)problem.iterations; k++) {
        if (distance <= near_distance && angle <= near_angle) break;
        pose_jacobian(problem, goal, pose, current, axes, origins, J);
        freeze_at_limits(problem, q, e, J, gradient);
        T improved = 0;
        for (int tries = 0; tries < MOST_DAMPING_TRIES; tries++) {
            damped_step(J, gradient, damping, step);
            for (int i = 0; i < JOINTS; i++) trial[i] = within(q[i] + step[i], problem.lower[i], problem.upper[i]);
            forward<T, true>(problem, trial, pose, axes, origins);
            T new_distance, new_angle;
            pose_residual(problem, goal, pose, e, current, new_distance, new_angle);
            T new_cost = new_distance * new_distance + weight * new_angle * (weight * new_angle);
            if (new_cost < cost) {
                improved = (cost - new_cost) / cost;
                for (int i = 0; i < JOINTS; i++) q[i] = trial[i];
                cost = new_cost, distance = new_distance, angle = new_angle;
                damping = max(damping * (T)DAMPING_DOWN, (T)DAMPING_SMALLEST);
                break;
            }
            damping *= (T)DAMPING_UP;
        }
        bool near = distance < 10 * near_distance && angle < 10 * near_angle;
        if (improved == 0 || (improved < (T)STALLED && !near)) break;
    }
}

template <class T> DEVICE T preference_cost(const Problem<T>& problem, const T* seed, const T* q) {
    T cost = 0;
    for (int k = 0; k < JOINTS; k++) {
        T a = seed[k] - q[k], b = problem.middle[k] - q[k];
        cost += problem.seed_bias * a * a + problem.limit_bias * b * b;
    }
    return cost;
}

// Move a solution along its redundancy towards the seed and the middle of the ranges, in place.
template <class T> DEVICE void pull_redundant_joints(const Problem<T>& problem, const Pose<T>& goal, const T* seed, T* q) {
    T small = (T)1e-5, scale = 1, cost = preference_cost(problem, seed, q);
    T axes[JOINTS][3], origins[JOINTS][3], J[JOINTS][6], e[6], gradient[JOINTS], candidate[JOINTS], current[3];
    Pose<T> pose;
    for (int step = 0; step < (int)problem.bias_steps; step++) {
        T distance, angle;
        forward<T, true>(problem, q, pose, axes, origins);
        pose_residual(problem, goal, pose, e, current, distance, angle);
        pose_jacobian(problem, goal, pose, current, axes, origins, J);
        freeze_at_limits(problem, q, e, J, gradient);
        for (int k = 0; k < JOINTS; k++) {
            T pull = problem.seed_bias * (seed[k] - q[k]) + problem.limit_bias * (problem.middle[k] - q[k]);
            gradient[k] += small * scale * pull;
        }
        damped_step(J, gradient, small, candidate);
        for (int k = 0; k < JOINTS; k++) candidate[k] = within(q[k] + candidate[k], problem.lower[k], problem.upper[k]);
        descend(problem, goal, candidate, distance, angle);
        T closer = preference_cost(problem, seed, candidate);
        if (distance <= problem.position_tolerance && angle <= problem.rotation_tolerance && closer < cost) {
            for (int k = 0; k < JOINTS; k++) q[k] = candidate[k];
            cost = closer, scale = min((T)1, 2 * scale);
        } else {
            scale *= (T)0.5;
            if (scale < (T)0.05) break;
        }
    }
}

// Targets are poses (4, 4), row after row. Descend from ``per_target`` starting points, beginning with number ``first``, to each listed target. Number 0 is the
// target's own, the others are shared by all.
ENTRY descend_all(
    const double* targets, const double* own, int own_step, const double* seeds, const int* which, int per_target,
    int first, long long count, double* out_q, double* out_errors) {
    long long thread = THREAD;
    if (thread >= count * per_target) return;
    const Problem<real>& problem = request;
    int target = which[thread / per_target], number = first + (int)(thread % per_target);
    const double* from = number == 0 ? own + (long long)target * own_step : seeds + (long long)(number - 1) * JOINTS;
    const double* told = targets + (long long)target * 16;
    Pose<real> goal;
    Pose<double> exact;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) goal.R[3 * i + j] = (real)(exact.R[3 * i + j] = told[4 * i + j]);
        goal.p[i] = (real)(exact.p[i] = told[4 * i + 3]);
    }
    real q[JOINTS], seed[JOINTS], distance, angle;
    for (int k = 0; k < JOINTS; k++) {
        q[k] = within((real)from[k], problem.lower[k], problem.upper[k]);
        seed[k] = (real)own[(long long)target * own_step + k];
    }
    descend(problem, goal, q, distance, angle);
    bool solved = distance <= (real)problem.position_tolerance && angle <= (real)problem.rotation_tolerance;
    if (BIASED && solved) pull_redundant_joints(problem, goal, seed, q);
    double exact_q[JOINTS], e[6], current[3], exact_distance, exact_angle;
    for (int k = 0; k < JOINTS; k++) {
        exact_q[k] = within((double)q[k], exact_request.lower[k], exact_request.upper[k]);
        out_q[thread * JOINTS + k] = exact_q[k];
    }
    Pose<double> pose;
    forward<double, false>(exact_request, exact_q, pose, 0, 0);
    pose_residual(exact_request, exact, pose, e, current, exact_distance, exact_angle);
    out_errors[2 * thread] = exact_distance;
    out_errors[2 * thread + 1] = exact_angle;
}
