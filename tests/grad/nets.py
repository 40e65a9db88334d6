#!/usr/bin/env python3
"""Compares gradients of small nets with PyTorch's, in f64: each net is written by hand twice, in Ein and with torch's own layers.

nets.py EIN [--target eval|c|jit] [--keep FOLDER] [NAME ...]

Run by hand, with a Python that has torch; without torch it says so and exits with 77. The loss, and its gradients with respect to all params and float
data, must agree with torch's within BOUND times each tensor's largest element. If they do not, exits with 1 and writes the program to FOLDER."""
import os
import sys
import tempfile
import types

from beside_torch import BOUND, F, apart, numpy, run, torch

NETS = []


def net(name, tensors, ein, forward, **whole):
    """tensors: `x:6,4` is a float tensor of this shape, `x:` a scalar. whole: integer tensors, each with its shape and an exclusive upper bound."""
    shapes = {t.split(":")[0]: tuple(int(n) for n in t.split(":")[1].split(",") if n) for t in tensors.split()}
    NETS.append((name, shapes, whole, ein, forward))


def heads(x, h):
    return x.reshape(x.shape[0], h, -1).transpose(0, 1)


# ---- layers without positions ------------------------------------------------------------------------------------------------------

net("linear regression", "x:6,4 w:4 b: y:6", "p[n] = linear[d](x[n,d], w[d], b)\nloss = mse[n](p[n], y[n])",
    lambda p: F.mse_loss(p.x @ p.w + p.b, p.y))
net("logistic regression", "x:6,4 w:4 b:", "loss = bce[n](linear[d](x[n,d], w[d], b), f64(c[n]))",
    lambda p: F.binary_cross_entropy_with_logits(p.x @ p.w + p.b, p.c.to(torch.float64)), c=((6,), 2))
net("two layers, cross entropy", "x:6,4 w:4,7 b:7 v:7,3 a:3",
    "h[n,k] = relu(linear[d](x[n,d], w[d,k], b[k]))\nz[n,o] = linear[k](h[n,k], v[k,o], a[o])\nloss = mean[n] cross_entropy[o](z[n,o], c[n])",
    lambda p: F.cross_entropy(torch.relu(p.x @ p.w + p.b) @ p.v + p.a, p.c), c=((6,), 3))
net("three layers, gelu and tanh", "x:5,4 w:4,6 u:6,6 v:6,2 y:5,2",
    "h[n,k] = gelu(sum[d] x[n,d] * w[d,k])\ng[n,j] = tanh(sum[k] h[n,k] * u[k,j])\np[n,o] = sum[j] g[n,j] * v[j,o]\nloss = mean[n] huber[o](p[n,o], y[n,o], 0.6)",
    lambda p: F.huber_loss(torch.tanh(F.gelu(p.x @ p.w) @ p.u) @ p.v, p.y, delta=0.6))
net("an autoencoder", "x:5,6 w:6,3 b:3 a:6", "h[n,k] = sigmoid(linear[d](x[n,d], w[d,k], b[k]))\nr[n,d] = linear[k](h[n,k], w[d,k], a[d])\nloss = sum[n] mae[d](r[n,d], x[n,d])",
    lambda p: (torch.sigmoid(p.x @ p.w + p.b) @ p.w.T + p.a - p.x).abs().mean(1).sum())
net("a variational autoencoder", "x:5,6 w:6,4 v:2,6 noise:5,2",
    "q[n,g,k] = sum[d] x[n,d] * w[d,(g:2 k)]\nz[n,k] = q[n,0,k] + exp(0.5 * q[n,1,k]) * noise[n,k]\nr[n,d] = sum[k] z[n,k] * v[k,d]\n"
    "loss = (mean[n,d] (r[n,d] - x[n,d])^2) - 0.5 * mean[n,k] (1 + q[n,1,k] - q[n,0,k]^2 - exp(q[n,1,k]))",
    lambda p: F.mse_loss((m := p.x @ p.w)[:, :2].add((0.5 * m[:, 2:]).exp() * p.noise) @ p.v, p.x) - 0.5 * (1 + m[:, 2:] - m[:, :2]**2 - m[:, 2:].exp()).mean())
net("a highway layer", "x:5,4 w:4,4 t:4,4", "g[n,k] = sigmoid((sum[d] x[n,d] * t[d,k]) - 1)\nloss = sum[n,k] (g[n,k] * relu(sum[d] x[n,d] * w[d,k]) + (1 - g[n,k]) * x[n,k])^2",
    lambda p: ((g := torch.sigmoid(p.x @ p.t - 1)) * torch.relu(p.x @ p.w) + (1 - g) * p.x).square().sum())
net("swiglu and rmsnorm", "x:5,6 g:6 w:6,8 v:6,8 u:8,6",
    "m[n,d] = rmsnorm[d](x[n,d], g[d], 1e-5)\ny[n,d] = x[n,d] + sum[f] swiglu[k](m[n,k], w[k,f], v[k,f]) * u[f,d]\nloss = sum[n,d] sin(y[n,d])",
    lambda p: (p.x + (F.silu((m := F.rms_norm(p.x, [6], p.g, 1e-5)) @ p.w) * (m @ p.v)) @ p.u).sin().sum())
net("a softmax of experts", "x:6,4 gate:4,3 w:3,4,5 v:3,5,4",
    "t[n,e] = softmax[e](sum[d] x[n,d] * gate[d,e])\nh[n,e,k] = silu(sum[d] x[n,d] * w[e,d,k])\ny[n,d] = sum[e] t[n,e] * sum[k] h[n,e,k] * v[e,k,d]\nloss = mean[n,d] (y[n,d] - x[n,d])^2",
    lambda p: F.mse_loss(torch.einsum("ne,nek,ekd->nd", F.softmax(p.x @ p.gate, 1), F.silu(torch.einsum("nd,edk->nek", p.x, p.w)), p.v), p.x))
net("one expert a token", "x:6,4 gate:4,3 w:3,4,5",
    "s[n,e] = softmax[e](sum[d] x[n,d] * gate[d,e])\nbest[n] = argmax[e] s[n,e]\ny[n,k] = s[n,best[n]] * tanh(sum[d] x[n,d] * w[best[n],d,k])\nloss = sum[n,k] y[n,k]^2",
    lambda p: ((s := F.softmax(p.x @ p.gate, 1)).max(1).values[:, None] * torch.tanh(torch.einsum("nd,ndk->nk", p.x, p.w[s.argmax(1)]))).square().sum())
net("a bilinear form", "x:5,3 y:5,4 a:3,4,6", "z[n,o] = sum[i,j] x[n,i] * a[i,j,o] * y[n,j]\nloss = sum[n] logsumexp[o] z[n,o]",
    lambda p: F.bilinear(p.x, p.y, p.a.permute(2, 0, 1)).logsumexp(1).sum())

# ---- norms ----------------------------------------------------------------------------------------------------------------------

net("layer norm", "x:5,6 g:6 b:6 w:6", "loss = sum[n,d] tanh(layernorm[d](x[n,d], g[d], b[d], 1e-5)) * w[d]",
    lambda p: (torch.tanh(F.layer_norm(p.x, [6], p.g, p.b, 1e-5)) * p.w).sum())
net("batch norm, by the batch", "x:4,3,3,2 g:2 b:2 w:3,3,2",
    "m[c] = mean[n,y,x'] x[n,y,x',c]\nv[c] = mean[n,y,x'] (x[n,y,x',c] - m[c])^2\nloss = sum[n,y,x',c] relu(batchnorm(x[n,y,x',c], m[c], v[c], g[c], b[c], 1e-5)) * w[y,x',c]",
    lambda p: (torch.relu(F.batch_norm(p.x.permute(0, 3, 1, 2), None, None, p.g, p.b, True, 0.1, 1e-5)).permute(0, 2, 3, 1) * p.w).sum())
net("group norm", "x:3,5,6 g:6 b:6",
    "z[n,t,(q k)] = layernorm[(t k)](x[n,t,(q:2 k)], 1, 0, 1e-5) * g[(q k)] + b[(q k)]\nloss = sum[n,t,c] sin(z[n,t,c]) * f64(t + c)",
    lambda p: (F.group_norm(p.x.transpose(1, 2), 2, p.g, p.b, 1e-5).transpose(1, 2).sin() * (torch.arange(5)[:, None] + torch.arange(6))).sum())

# ---- convolutions ----------------------------------------------------------------------------------------------------------------

net("a convolution along one axis", "x:3,8,4 f:3,4,5 b:5", "z[n,t:8,k] = conv1d[t,r,c](x[n,t,c], f[r,c,k], 1, 1, 1) + b[k]\nloss = sum[n,t,k] gelu(z[n,t,k])",
    lambda p: F.gelu(F.conv1d(p.x.transpose(1, 2), p.f.permute(2, 1, 0), p.b, padding=1)).sum())
net("a causal convolution with holes", "x:3,9,2 f:3,2,4", "z[n,t:9,k] = conv1d[t,r,c](x[n,t,c], f[r,c,k], 1, 4, 2)\nloss = sum[n,t,k] tanh(z[n,t,k]) * f64(t + 1)",
    lambda p: (torch.tanh(F.conv1d(F.pad(p.x.transpose(1, 2), (4, 0)), p.f.permute(2, 1, 0), dilation=2)) * torch.arange(1, 10)).sum())
net("convolutions in the plane, stride 2", "x:2,6,6,3 f:3,3,3,4 g:3,3,4,5 w:5,3",
    "a[n,y:3,u:3,k] = relu(conv2d[y,u,q,r,c](x[n,y,u,c], f[q,r,c,k], 2, 1, 1))\nb[n,y:3,u:3,k] = relu(conv2d[y,u,q,r,c](a[n,y,u,c], g[q,r,c,k], 1, 1, 1))\n"
    "z[n,o] = sum[k] (mean[y,u] b[n,y,u,k]) * w[k,o]\nloss = mean[n] cross_entropy[o](z[n,o], c[n])",
    lambda p: F.cross_entropy(torch.relu(F.conv2d(torch.relu(F.conv2d(p.x.permute(0, 3, 1, 2), p.f.permute(3, 2, 0, 1), stride=2, padding=1)),
                                                  p.g.permute(3, 2, 0, 1), padding=1)).mean((2, 3)) @ p.w, p.c), c=((2,), 3))
net("a separable convolution", "x:2,5,5,4 f:3,3,4 w:4,6",
    "a[n,y:5,u:5,c] = sum[q,r] x[n, y+q-1, u+r-1, c] ?? 0 * f[q,r,c]\nloss = sum[n,y,u,k] silu(sum[c] a[n,y,u,c] * w[c,k])",
    lambda p: F.silu(F.conv2d(F.conv2d(p.x.permute(0, 3, 1, 2), p.f.permute(2, 0, 1)[:, None], padding=1, groups=4), p.w.T[:, :, None, None])).sum())
net("a transposed convolution", "x:2,4,3 f:3,3,5",
    "z[n,t:9,k] = sum[s,r,c where 2*s + r == t] x[n,s,c] * f[r,c,k]\nloss = sum[n,t,k] z[n,t,k]^3",
    lambda p: (F.conv_transpose1d(p.x.transpose(1, 2), p.f.permute(1, 2, 0), stride=2)**3).sum())
net("max and mean pools", "x:2,6,6,3 w:3,3,3",
    "a[n,y:3,u:3,c] = maxpool2d[y,u,q:2,r:2](x[n,y,u,c], 2, 0)\nb[n,y:3,u:3,c] = avgpool2d[y,u,q:3,r:3](x[n,y,u,c], 2, 1)\nloss = sum[n,y,u,c] (sin(a[n,y,u,c] * w[y,u,c]) + a[n,y,u,c] * b[n,y,u,c])",
    lambda p: ((a := F.max_pool2d(x := p.x.permute(0, 3, 1, 2), 2)).mul(p.w.permute(2, 0, 1)).sin() + a * F.avg_pool2d(x, 3, 2, 1)).sum())
net("a residual block", "x:2,5,5,3 f:3,3,3,3 g:3,3,3,3",
    "def n2d[n,y,u](x) = (x - mean[n,y,u] x) * rsqrt(1e-5 + mean[n,y,u] (x - mean[n,y,u] x)^2)\n"
    "a[n,y:5,u:5,k] = relu(n2d[n,y,u](conv2d[y,u,q,r,c](x[n,y,u,c], f[q,r,c,k], 1, 1, 1)))\n"
    "z[n,y:5,u:5,k] = relu(x[n,y,u,k] + n2d[n,y,u](conv2d[y,u,q,r,c](a[n,y,u,c], g[q,r,c,k], 1, 1, 1)))\nloss = sum[n,y,u,k] z[n,y,u,k] * sin(f64(y + 2*u + n))",
    lambda p: (torch.relu(p.x.permute(0, 3, 1, 2) + F.batch_norm(F.conv2d(torch.relu(F.batch_norm(F.conv2d(
        p.x.permute(0, 3, 1, 2), p.f.permute(3, 2, 0, 1), padding=1), None, None, training=True)), p.g.permute(3, 2, 0, 1), padding=1), None, None, training=True))
        * torch.sin((torch.arange(5)[:, None] + 2 * torch.arange(5) + torch.arange(2)[:, None, None, None]).to(torch.float64))).sum())

# ---- attention and tokens --------------------------------------------------------------------------------------------------------

net("attention of several heads", "x:5,6 wq:6,2,3 wk:6,2,3 wv:6,2,3 wo:2,3,6",
    "q[s,h,d] = sum[a] x[s,a] * wq[a,h,d]\nk[s,h,d] = sum[a] x[s,a] * wk[a,h,d]\nv[s,h,d] = sum[a] x[s,a] * wv[a,h,d]\n"
    "o[s,h,e] = attention[t,d](q[s,h,d], k[t,h,d], v[t,h,e], 1 / sqrt(3))\ny[s,a] = sum[h,e] o[s,h,e] * wo[h,e,a]\nloss = sum[s,a] sin(y[s,a])",
    lambda p: (F.scaled_dot_product_attention(*[heads(p.x @ w.reshape(6, 6), 2)[None] for w in (p.wq, p.wk, p.wv)])[0].transpose(0, 1).reshape(5, 6) @ p.wo.reshape(6, 6)).sin().sum())
net("causal attention", "q:2,6,4 k:2,6,4 v:2,6,3", "o[h,s,e] = causal[s,t,d](q[h,s,d], k[h,t,d], v[h,t,e], 0.5)\nloss = sum[h,s,e] o[h,s,e]^2",
    lambda p: F.scaled_dot_product_attention(p.q[None], p.k[None], p.v[None], is_causal=True).square().sum())
net("grouped queries, a window, a bias by distance", "q:4,7,4 k:2,7,4 v:2,7,3 slope:4",
    "score[g,u,s,t] = (sum[d] q[(g u:2),s,d] * k[g,t,d]) * 0.5 - slope[(g u)] * f64(s - t)\n"
    "w[g,u,s,t] = softmax[t where t <= s and s < t + 3](score[g,u,s,t]) ?? 0\nloss = sum[g,u,s,e] tanh(sum[t] w[g,u,s,t] * v[g,t,e])",
    lambda p: torch.tanh(F.softmax((p.q @ p.k.repeat_interleave(2, 0).transpose(1, 2) * 0.5 - p.slope[:, None, None] * (d := torch.arange(7)[:, None] - torch.arange(7)))
                                   .masked_fill((d < 0) | (d >= 3), -torch.inf), 2) @ p.v.repeat_interleave(2, 0)).sum())
net("attention without softmax", "q:5,3 k:5,3 v:5,4",
    "f[s,d] = 1 + if k[s,d] > 0 then k[s,d] else expm1(k[s,d])\ng[s,d] = 1 + if q[s,d] > 0 then q[s,d] else expm1(q[s,d])\n"
    "o[s,e] = (sum[d] g[s,d] * sum[t where t <= s] f[t,d] * v[t,e]) / sum[d] g[s,d] * sum[t where t <= s] f[t,d]\nloss = sum[s,e] o[s,e]^2",
    lambda p: ((w := torch.tril((F.elu(p.q) + 1) @ (F.elu(p.k) + 1).T)) @ p.v / w.sum(1, keepdim=True)).square().sum())
net("rotary positions", "x:5,2,6 y:5,2,6", "a[s,h,d] = rope_half[d](x[s,h,d], s, 100.0)\nb[s,h,d] = rope_half[d](y[s,h,d], s, 100.0)\nloss = sum[h,s,t] sin(sum[d] a[s,h,d] * b[t,h,d])",
    lambda p: torch.einsum("shd,thd->hst", *[torch.cat([x[..., :3] * torch.cos(w) - x[..., 3:] * torch.sin(w), x[..., 3:] * torch.cos(w) + x[..., :3] * torch.sin(w)], -1)
                                             for x in (p.x, p.y) for w in [(torch.arange(5)[:, None] * 100.0**(-torch.arange(3) / 3))[:, None]]]).sin().sum())
net("an embedding, tied to the head", "e:7,5 w:5,5", "x[n,s,a] = embedding[v](e[v,a], c[n,s])\nh[n,s,a] = gelu_tanh(sum[b] x[n,s,b] * w[b,a])\nz[n,s,v] = sum[a] h[n,s,a] * e[v,a]\n"
    "loss = mean[n,s where s < 5] cross_entropy[v](z[n,s,v], c[n,s+1] ?? 0)",
    lambda p: F.cross_entropy((F.gelu(F.embedding(p.c, p.e) @ p.w, approximate="tanh") @ p.e.T)[:, :-1].reshape(-1, 7), p.c[:, 1:].reshape(-1)), c=((3, 6), 7))
net("a bag of words", "e:9,4 w:4,3", "b[n,a] = max[s] e[c[n,s],a]\nm[n,a] = mean[s] e[c[n,s],a]\nloss = sum[n] cross_entropy[o](sum[a] (b[n,a] + m[n,a]) * w[a,o], d[n])",
    lambda p: F.cross_entropy((p.e[p.c].amax(1) + F.embedding_bag(p.c, p.e, mode="mean")) @ p.w, p.d, reduction="sum"),
    c=((4, 1), 9), d=((4,), 3))
net("a transformer block", "x:5,6 g1:6 b1:6 g2:6 b2:6 wq:6,2,3 wk:6,2,3 wv:6,2,3 wo:2,3,6 w1:6,10 w2:10,6",
    "m[s,a] = layernorm[a](x[s,a], g1[a], b1[a], 1e-5)\nq[s,h,d] = sum[a] m[s,a] * wq[a,h,d]\nk[s,h,d] = sum[a] m[s,a] * wk[a,h,d]\nv[s,h,d] = sum[a] m[s,a] * wv[a,h,d]\n"
    "o[s,h,e] = causal[s,t,d](q[s,h,d], k[t,h,d], v[t,h,e], 1 / sqrt(3))\ny[s,a] = x[s,a] + sum[h,e] o[s,h,e] * wo[h,e,a]\nz[s,a] = layernorm[a](y[s,a], g2[a], b2[a], 1e-5)\n"
    "u[s,a] = y[s,a] + sum[f] gelu(sum[b] z[s,b] * w1[b,f]) * w2[f,a]\nloss = sum[s,a] sin(u[s,a])",
    lambda p: ((y := p.x + F.scaled_dot_product_attention(*[heads(F.layer_norm(p.x, [6], p.g1, p.b1) @ w.reshape(6, 6), 2)[None] for w in (p.wq, p.wk, p.wv)],
                                                          is_causal=True)[0].transpose(0, 1).reshape(5, 6) @ p.wo.reshape(6, 6))
               + F.gelu(F.layer_norm(y, [6], p.g2, p.b2) @ p.w1) @ p.w2).sin().sum())

# ---- repeats ----------------------------------------------------------------------------------------------------------------


def rnn(p):
    y = torch.zeros(3, 4)
    for t in range(5):
        y = torch.tanh(p.x[:, t] @ p.w + y @ p.u + p.b)
    return y.square().sum()


net("a recurrent net", "x:3,5,2 w:2,4 u:4,4 b:4",
    "repeat t < 5 {\n  state y[n:3,h:4] : f64 = 0\n  next y[n,h] = tanh(b[h] + (sum[d] x[n,t,d] * w[d,h]) + sum[k] y[n,k] * u[k,h])\n}\nloss = sum[n,h] y[n,h]^2", rnn)


def lstm(p):
    cell = torch.nn.LSTM(2, 4, batch_first=True)
    ws = {"weight_ih_l0": p.w.T, "weight_hh_l0": p.u.T, "bias_ih_l0": p.b, "bias_hh_l0": torch.zeros(16)}
    return torch.func.functional_call(cell, ws, (p.x,))[0].sin().sum()


net("an LSTM", "x:3,5,2 w:2,16 u:4,16 b:16",
    "repeat t < 5 {\n  state y[n:3,h:4] : f64 = 0\n  state c[n:3,h:4] : f64 = 0\n  z[n,g,h] = b[(g:4 h)] + (sum[d] x[n,t,d] * w[d,(g h)]) + sum[k] y[n,k] * u[k,(g h)]\n"
    "  kept[n,h] = sigmoid(z[n,1,h]) * c[n,h] + sigmoid(z[n,0,h]) * tanh(z[n,2,h])\n  new[n,h] = sigmoid(z[n,3,h]) * tanh(kept[n,h])\n  all_y[t,n,h] = new[n,h]\n"
    "  next c[n,h] = kept[n,h]\n  next y[n,h] = new[n,h]\n}\nloss = sum[t,n,h] sin(all_y[t,n,h])", lstm)


def gru(p):
    cell = torch.nn.GRU(2, 4, batch_first=True)
    ws = {"weight_ih_l0": p.w.T, "weight_hh_l0": p.u.T, "bias_ih_l0": p.b, "bias_hh_l0": p.a}
    return torch.func.functional_call(cell, ws, (p.x,))[0][:, -1].exp().sum()


net("a GRU", "x:3,5,2 w:2,12 u:4,12 b:12 a:12",
    "repeat t < 5 {\n  state y[n:3,h:4] : f64 = 0\n  i[n,g,h] = b[(g:3 h)] + sum[d] x[n,t,d] * w[d,(g h)]\n  o[n,g,h] = a[(g:3 h)] + sum[k] y[n,k] * u[k,(g h)]\n"
    "  keep[n,h] = sigmoid(i[n,1,h] + o[n,1,h])\n  new[n,h] = tanh(i[n,2,h] + sigmoid(i[n,0,h] + o[n,0,h]) * o[n,2,h])\n"
    "  next y[n,h] = (1 - keep[n,h]) * new[n,h] + keep[n,h] * y[n,h]\n}\nloss = sum[n,h] exp(y[n,h])", gru)


def state_space(p):
    h, out = torch.zeros(3, 4), []
    for t in range(6):
        h = torch.exp(-F.softplus(p.a)) * h + p.x[t, :, None] * p.b
        out.append((h * p.c).sum(1))
    return torch.stack(out).square().mean()


net("a state space", "x:6,3 a:3,4 b:3,4 c:3,4",
    "repeat t < 6 {\n  state h[d:3,n:4] : f64 = 0\n  new[d,n] = exp(-softplus(a[d,n])) * h[d,n] + x[t,d] * b[d,n]\n  y[t,d] = sum[n] new[d,n] * c[d,n]\n  next h[d,n] = new[d,n]\n}\n"
    "loss = mean[t,d] y[t,d]^2", state_space)


def descent(p):
    w = p.w
    for _ in range(4):
        w = w - 0.3 * torch.autograd.grad(F.mse_loss(torch.tanh(p.x @ w), p.y), w, create_graph=True)[0]
    return F.mse_loss(torch.tanh(p.z @ w), p.v)


net("four steps of descent, and through them", "x:6,3 y:6 z:4,3 v:4 w:3",
    "repeat t < 4 {\n  state s[d:3] : f64 = w[d]\n  inner = mse[n](tanh(sum[d] x[n,d] * s[d]), y[n])\n  next s[d] = s[d] - 0.3 * grad(inner, s[d])\n}\n"
    "loss = mse[n](tanh(sum[d] z[n,d] * s[d]), v[n])", descent)


def coupled(p):
    a, b, scale = p.x[:, 0], p.x[:, 1], 0
    for k in range(p.w.shape[0]):
        h = torch.tanh(a @ p.w[k])
        s = torch.tanh(h @ p.u[k])
        a, b, scale = b * torch.exp(s) + h @ p.v[k], a, scale + s.sum(1)
    return (0.5 * (a.square() + b.square()).sum(1) - scale).mean()


net("a normalising flow", "x:5,2,3 w:3,3,4 u:3,4,3 v:3,4,3", """repeat k < 3 {
  state z[n:5,p:2,d:3] = x[n,p,d]
  state scale[n:5] : f64 = 0
  h[n,j] = tanh(sum[d] z[n,0,d] * w[k,d,j])
  s[n,d] = tanh(sum[j] h[n,j] * u[k,j,d])
  next z[n,p,d] = if p == 0 then z[n,1,d] * exp(s[n,d]) + (sum[j] h[n,j] * v[k,j,d]) else z[n,0,d]
  next scale[n] = scale[n] + sum[d] s[n,d]
}
loss = mean[n] ((sum[p,d] 0.5 * z[n,p,d]^2) - scale[n])""", coupled)

# ---- graphs, and losses of other kinds --------------------------------------------------------------------------------------------

net("a graph net", "x:5,3 w:3,4 u:3,4 v:4,2",
    "m[k,o] = relu(sum[d] x[a[k],d] * w[d,o])\ns[n:5,o] = sum[k where b[k] == n] m[k,o]\ny[n,o] = tanh(s[n,o] + sum[d] x[n,d] * u[d,o])\nloss = sum[n,q] (sum[o] y[n,o] * v[o,q])^2",
    lambda p: (torch.tanh(torch.zeros(5, 4).index_add(0, p.b, torch.relu(p.x[p.a] @ p.w)) + p.x @ p.u) @ p.v).square().sum(), a=((9,), 5), b=((9,), 5))
net("two views, a temperature", "x:5,4 y:5,4 w:4,3 v:4,3 t:",
    "a[n,h] = sum[d] x[n,d] * w[d,h]\nb[n,h] = sum[d] y[n,d] * v[d,h]\n"
    "z[n,m] = exp(t) * sum[h] a[n,h] / sqrt(sum[h] a[n,h]^2) * b[m,h] / sqrt(sum[h] b[m,h]^2)\n"
    "loss = (mean[n] ((logsumexp[m] z[n,m]) - z[n,n])) + mean[m] ((logsumexp[n] z[n,m]) - z[m,m])",
    lambda p: F.cross_entropy(torch.exp(p.t) * F.normalize(p.x @ p.w, dim=1) @ F.normalize(p.y @ p.v, dim=1).T, torch.arange(5))
    + F.cross_entropy((torch.exp(p.t) * F.normalize(p.x @ p.w, dim=1) @ F.normalize(p.y @ p.v, dim=1).T).T, torch.arange(5)))
net("pairs told apart", "x:5,4 y:5,4 w:4,3",
    "a[n,k] = sum[d] x[n,d] * w[d,k]\nb[n,k] = sum[d] y[n,d] * w[d,k]\ns[n,m] = (sum[k] a[n,k] * b[m,k]) * rsqrt(sum[k] a[n,k]^2) * rsqrt(sum[k] b[m,k]^2) / 0.2\nloss = mean[n] cross_entropy[m](s[n,m], n)",
    lambda p: F.cross_entropy(F.normalize(p.x @ p.w) @ F.normalize(p.y @ p.w).T / 0.2, torch.arange(5)))
net("triples", "x:5,4 y:5,4 z:5,4 w:4,3",
    "def far[k](a, b) = sqrt(sum[k] (a - b)^2)\na[n,k] = sum[d] x[n,d] * w[d,k]\nb[n,k] = sum[d] y[n,d] * w[d,k]\nc[n,k] = sum[d] z[n,d] * w[d,k]\n"
    "loss = mean[n] relu(far[k](a[n,k], b[n,k]) - far[k](a[n,k], c[n,k]) + 0.3)",
    lambda p: F.triplet_margin_loss(p.x @ p.w, p.y @ p.w, p.z @ p.w, margin=0.3, eps=0))
net("a student and a teacher", "x:5,4 w:4,3 t:5,3",
    "q[n,k] = softmax[k](t[n,k] / 2)\np[n,k] = logsoftmax[k]((sum[d] x[n,d] * w[d,k]) / 2)\nloss = 4 * mean[n] sum[k] stop_gradient(q[n,k]) * (log(stop_gradient(q[n,k])) - p[n,k])",
    lambda p: 4 * F.kl_div(F.log_softmax(p.x @ p.w / 2, 1), F.softmax(p.t.detach() / 2, 1), reduction="batchmean") + 0 * p.t.sum())
net("smoothed classes, a focal loss", "x:5,4 w:4,3",
    "z[n,k] = sum[d] x[n,d] * w[d,k]\nl[n,k] = logsoftmax[k](z[n,k])\nsoft = mean[n] (0.9 * cross_entropy[k](z[n,k], c[n]) - 0.1 * mean[k] l[n,k])\n"
    "loss = soft + sum[n] -(1 - exp(l[n,c[n]]))^2 * l[n,c[n]]",
    lambda p: F.cross_entropy(z := p.x @ p.w, p.c, label_smoothing=0.1) - ((1 - (g := F.log_softmax(z, 1)[torch.arange(5), p.c]).exp())**2 * g).sum(), c=((5,), 3))
net("hinges", "x:5,4 w:4", "loss = hinge[n](sum[d] x[n,d] * w[d], f64(2 * c[n] - 1)) + 0.1 * sum[d] w[d]^2",
    lambda p: torch.relu(1 - (2 * p.c - 1) * (p.x @ p.w)).mean() + 0.1 * p.w.square().sum(), c=((5,), 2))
net("the last of a scan of maxima", "x:3,6 w:6",
    "m[n,t:6] = max[s where s <= t] x[n,s] * w[s]\nloss = sum[n,t] m[n,t]^2 * f64(t + 1)",
    lambda p: ((p.x * p.w).cummax(1).values**2 * torch.arange(1, 7)).sum())


def penalty(p):
    slope = torch.autograd.grad((torch.tanh(p.x @ p.w) @ p.v).sum(), p.x, create_graph=True)[0]
    return ((slope.square().sum(1).sqrt() - 1)**2).mean()


net("a penalty on slopes", "x:5,4 w:4,6 v:6",
    "s = sum[n,h] tanh(sum[d] x[n,d] * w[d,h]) * v[h]\nloss = mean[n] (sqrt(sum[d] grad(s, x[n,d])^2) - 1)^2", penalty)


# ---- rarer constructs --------------------------------------------------------------------------------------------------------------


def turns_until(p):
    x = p.w
    for _ in range(30):
        x, over = x - (x**3 - 2 * x - p.a.exp()) / (3 * x**2 - 2), float((x**3 - 2 * x - p.a.exp()).detach().abs().max()) < 1e-3
        if over:
            break
    return (x * p.b).sum()


def rows_written(p):
    k, out = p.x * 0, []
    for t in range(5):
        k = torch.cat([k[:t], (p.x[t] * p.w + k.sum(0)).tanh()[None], k[t + 1:]])
        out.append((k @ p.v).logsumexp(0))
    return (torch.stack(out) * torch.arange(1, 6)).sum() + k.square().sum()


def curvature(p):
    g, = torch.autograd.grad(F.cross_entropy(p.x @ p.w, p.c), p.w, create_graph=True)
    return (g * torch.tanh(p.v)).sum()


def forgot(p):
    return torch.where(torch.arange(4)[:, None] + torch.arange(5) != 2, p.x, p.x - p.x.detach())

def slow_copy(p):
    w, slow, off = p.w, p.w.detach(), 0
    for _ in range(4):
        off = off + ((p.x @ w).tanh() - (p.x @ slow).cos()).square().mean()
        w, slow = w - 0.1 * (p.x.T @ (p.x @ w - p.y)), (0.9 * slow + 0.1 * w).detach()
    return off + w.square().sum()


def read_or(x, at, other):
    """x's second axis at these places; where it has none, other."""
    return torch.where(((at >= 0) & (at < x.shape[1]))[..., None], x[:, at.clamp(0, x.shape[1] - 1)], other)


def windows(p):
    i = torch.arange(5)[:, None]
    return (torch.tanh(read_or(p.x, 2 * i + 3 * torch.arange(3) - 4, p.low).amax(2)) * read_or(p.x, 3 * i - 2 * torch.arange(4), torch.tensor(0.5)).mean(2)).sum()


class Mixed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        s = x @ w
        ctx.save_for_backward(x, w, s)
        return torch.tanh(s), s**2

    @staticmethod
    def backward(ctx, da, db):
        x, w, s = ctx.saved_tensors
        return 2 * da @ w.T, x.T @ (db * torch.tanh(s))


def stated(p):
    inside = torch.where(p.x.abs() <= 1, p.x, p.x.detach())
    a, b = Mixed.apply(inside + (torch.sign(p.x) - inside).detach(), p.w)
    return (torch.sin(a) + b * torch.cos(torch.arange(3).to(torch.float64))).sum()


def between(p):
    h = torch.tanh(p.x @ p.w.triu())
    n, k = torch.arange(6)[:, None], torch.arange(5)
    near = ((torch.arange(6)[:, None, None] >= n - k) & (torch.arange(6)[:, None, None] <= n)).to(torch.float64)
    s = torch.einsum("mnk,mk->nk", near, h * p.x.flip(1)).square().sum()
    return s + (torch.autograd.grad(s, h, create_graph=True)[0] * h).sum()


net("products with none, one, two and three zeros", "x:4,6",
    "z[n,d] = if n + d < 2 * n and d % 2 == 0 then x[n,d] - stop_gradient(x[n,d]) else x[n,d]\nloss = sum[n] (n + 1) * sin(prod[d] z[n,d])",
    lambda p: (torch.where((torch.arange(6) < torch.arange(4)[:, None]) & (torch.arange(6) % 2 == 0), p.x - p.x.detach(), p.x).prod(1).sin() * torch.arange(1, 5)).sum())
net("running products through a zero", "x:4,5",
    "z[n,d] = if n + d == 2 then x[n,d] - stop_gradient(x[n,d]) else x[n,d]\nq[n,t:5] = prod[d where d <= t] z[n,d]\nloss = sum[n,t] q[n,t] * exp(x[n,t])",
    lambda p: (torch.cumprod(forgot(p), 1) * p.x.exp()).sum())
net("a product over a group of two labels", "x:3,4 w:12", "y[n:3] = prod[(i j)] (x[i,j] + n * w[(i j)])\nloss = sum[n] tanh(y[n])",
    lambda p: torch.tanh((p.x.reshape(12) + torch.arange(3)[:, None] * p.w).prod(1)).sum())
net("the places of the largest and the least", "x:5,4,3 y:5,4,3 w:4",
    "a[n] = argmax[i] (sum[j] x[n,i,j] * w[i])\nb[n] = argmin[(i j)] y[n,i,j]\nloss = sum[n,j] sin(x[n,a[n],j]) * y[n, b[n] // 3, b[n] % 3] * w[a[n]]",
    lambda p: (torch.sin(p.x[torch.arange(5), (a := (p.x.sum(2) * p.w).argmax(1))]).sum(1) * p.y.reshape(5, 12).amin(1) * p.w[a]).sum())
net("variances by a monoid of tuples", "x:3,7 g:3",
    "monoid welford((n, m, s), (k, o, t)) = (n + k, m + (o - m) * (k / max(n + k, 1)), s + t + (o - m)^2 * (n * (k / max(n + k, 1))))\n"
    "    identity (0, 0, 0) where n > 0 or (n == 0 and m == 0 and s == 0)\n"
    "k[i], m[i], s[i] = welford[j where j != 2](1, x[i,j] * g[i], 0)\nloss = sum[i] (m[i] * sqrt(s[i] / k[i]) + s[i])",
    lambda p: ((y := (p.x * p.g[:, None])[:, [0, 1, 3, 4, 5, 6]]).mean(1) * y.std(1, unbiased=False) + 6 * y.var(1, unbiased=False)).sum())
net("the best with what it brings, by a monoid of tuples", "x:4,6 y:4,6",
    "monoid best((v, at, p), (w, to, q)) = (max(v, w), if w > v or (w == v and to < at) then to else at, if w > v or (w == v and to < at) then q else p)\n"
    "    identity (-inf, 1000, 0)\nv[n], at[n], q[n] = best[i](sin(x[n,i]), i, x[n,i] * y[n,i])\nloss = sum[n] (v[n]^2 * q[n] + f64(at[n]) * q[n])",
    lambda p: ((v := torch.sin(p.x)).amax(1).square() * (q := (p.x * p.y)[torch.arange(4), v.argmax(1)]) + v.argmax(1) * q).sum())
net("Newton until it is there", "w0:3 a:3 b:3",
    "w[i] = w0[i] + 3\nrepeat t < 30 until far < 1e-3 {\n  state x[i:3] = w[i]\n  f[i] = x[i]^3 - 2 * x[i] - exp(a[i])\n  far = max[i] abs(f[i])\n  next x[i] = x[i] - f[i] / (3 * x[i]^2 - 2)\n}\n"
    "loss = sum[i] x[i] * b[i]", lambda p: turns_until(types.SimpleNamespace(w=p.w0 + 3, a=p.a, b=p.b)))
net("rows of a state, written one by one, and a stack", "x:5,3 w:3 v:3",
    "repeat t < 5 {\n  state k[p:5,h:3] : f64 = 0\n  now[p,h] = if p == t then tanh(x[t,h] * w[h] + sum[p'] k[p',h]) else k[p,h]\n"
    "  seen[t] = logsumexp[p] sum[h] now[p,h] * v[h]\n  next k[p,h] = now[p,h]\n}\nloss = (sum[t] seen[t] * f64(t + 1)) + sum[p,h] k[p,h]^2", rows_written)
net("a slow copy that has no gradient", "x:5,3 y:5 w:3",
    "repeat t < 4 {\n  state v[d:3] = w[d]\n  state slow[d:3] = stop_gradient(w[d])\n"
    "  off[t] = mean[n] (tanh(sum[d] x[n,d] * v[d]) - cos(sum[d] x[n,d] * slow[d]))^2\n"
    "  next v[d] = v[d] - 0.1 * sum[n] x[n,d] * ((sum[d'] x[n,d'] * v[d']) - y[n])\n  next slow[d] = stop_gradient(0.9 * slow[d] + 0.1 * v[d])\n}\n"
    "loss = (sum[t] off[t]) + sum[d] v[d]^2",
    slow_copy)
net("pools with steps, holes and borders", "x:2,11,3 low:3",
    "m[n,i:5,c] = max[q:3] x[n, 2*i + 3*q - 4, c] ?? low[c]\na[n,i:5,c] = mean[q:4] x[n, 3*i - 2*q, c] ?? 0.5\nloss = sum[n,i,c] tanh(m[n,i,c]) * a[n,i,c]",
    windows)
net("pixels from channels, and back", "x:2,3,4,8 f:3,3,2",
    "s[n,(y a),(u b),c] = x[n,y,u,(c a:2 b:2)]\nz[n,y:6,u:8,c] = sum[q,r] s[n, y+q-1, u+r-1, c] ?? 0 * f[q,r,c]\nback[n,y,u,(a c b)] = tanh(z[n,(y a:2),(u b:2),c])\nloss = sum[n,y,u,k] back[n,y,u,k] * f64(k + y)",
    lambda p: ((F.conv2d(F.pixel_shuffle(p.x.permute(0, 3, 1, 2), 2), p.f.permute(2, 0, 1)[:, None], padding=1, groups=2).tanh()
                .reshape(2, 2, 3, 2, 4, 2).permute(0, 2, 4, 3, 1, 5).reshape(2, 3, 4, 8)) * (torch.arange(8) + torch.arange(3)[:, None, None])).sum())
net("steps that let the gradient pass, and one that scales it", "x:5,4 w:4,3",
    "def step(x) = sign(x) adjoint(dy) = if abs(x) <= 1 then dy else 0\ndef mixed[d](x, w) {\n  s = sum[d] x * w\n  (tanh(s), s^2)\n} adjoint(a: da, b: db) = (2 * da * w, db * a * x)\n"
    "p[n,k], q[n,k] = mixed[d](step(x[n,d]), w[d,k])\nloss = sum[n,k] (sin(p[n,k]) + q[n,k] * cos(f64(k)))",
    stated)
net("segments: the largest of each, and sums over those that have one", "x:12 w:6",
    "m[b:6] = max[e where c[e] == b] sin(x[e])\nn[b:6] = sum[e where c[e] == b] 1\nl[b:6] = logsumexp[e where c[e] == b] x[e]\n"
    "loss = sum[b where n[b] > 0] (m[b] * w[b] + l[b]^2)",
    lambda p: sum((torch.sin(p.x[p.c == b]).amax() * p.w[b] + p.x[p.c == b].logsumexp(0)**2 for b in range(6) if bool((p.c == b).any())), torch.tensor(0.0)), c=((12,), 6))
net("reads beyond the end, with another tensor instead", "x:7,3 y:7,3",
    "z[n,d] = x[n + c[n] - 3, d] ?? (y[c[n], d] * x[0,d]) ?? 1\nloss = sum[n,d] exp(z[n,d]) * x[6 - n, 2 - d]",
    lambda p: (torch.where((((i := torch.arange(7) + p.c - 3) >= 0) & (i < 7))[:, None], p.x[i.clamp(0, 6)], p.y[p.c] * p.x[0]).exp() * p.x.flip(0, 1)).sum(), c=((7,), 7))
net("a gradient's product with another tensor", "x:5,4 w:4,3 v:4,3",
    "l = mean[n] cross_entropy[k](sum[d] x[n,d] * w[d,k], c[n])\nloss = sum[d,k] grad(l, w[d,k]) * tanh(v[d,k])", curvature, c=((5,), 3))
net("what comes between, and ranges that move", "x:6,5 w:5,5",
    "h[n,k] = tanh(sum[d where d <= k] x[n,d] * w[d,k])\nr[n:6,k] = sum[m where m >= n - k and m <= n] h[m,k] * x[m, 4 - k]\ns = sum[n,k] r[n,k]^2\nloss = s + sum[n,k] grad(s, h[n,k]) * h[n,k]",
    between)


# ---- judging ----------------------------------------------------------------------------------------------------------------------

def text(shapes, whole, ein):
    lines = ["use nn", "use loss", "use attention"]
    lines += [f"param {n}" + (f"[{','.join(map(str, s))}]" if s else "") + " : f64" for n, s in shapes.items()]
    lines += [f"param {n}[{','.join(map(str, s))}] : i64" for n, (s, _) in whole.items()]
    lines += [ein, "output value = loss"]
    for k, (n, s) in enumerate(shapes.items()):
        at = f"[{','.join(f'i{d}' for d in range(len(s)))}]" if s else ""
        lines.append(f"output by{k}{at} = grad(loss, {n}{at})")
    return "\n".join(lines) + "\n"


def values_of(shapes, whole):
    draw = numpy.random.default_rng(7)
    values = {n: draw.uniform(-1, 1, s) for n, s in shapes.items()}
    values.update({n: draw.integers(0, most, s) for n, (s, most) in whole.items()})
    return values


def judge(ein, target, keep, work, one):
    """Returns how far a net's gradients differ; None, after printing why, if too far."""
    name, shapes, whole, words, forward = one
    values = values_of(shapes, whole)
    program = text(shapes, whole, words)
    p = types.SimpleNamespace(**{n: torch.tensor(x, requires_grad=n in shapes) for n, x in values.items()})
    loss = forward(p)
    grads = torch.autograd.grad(loss, [getattr(p, n) for n in shapes])
    got, said = run(ein, target, work, program, values)
    far = apart([got("value")] + [got(f"by{k}") for k in range(len(shapes))], [loss.detach().numpy()] + [g.numpy() for g in grads]) if got else float("inf")
    if far <= BOUND:
        return far
    print(f"{name}: {far} apart\n{said[:1500]}")
    with open(os.path.join(keep or work, f"{name.replace(' ', '_')}.ein"), "w") as f:
        f.write(program)
    return None


def main(words):
    options = {"--target": "eval", "--keep": ""}
    ein, names = os.path.abspath(words.pop(0)), []
    while words:
        word = words.pop(0)
        if word in options:
            options[word] = words.pop(0)
        else:
            names.append(word)
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    with tempfile.TemporaryDirectory() as work:
        fars = [judge(ein, options["--target"], options["--keep"], work, one) for one in NETS if not names or one[0] in names]
    print(f"{len(fars)} nets, {fars.count(None)} failed, the others at most {max([f for f in fars if f is not None], default=0):.1e} apart")
    return 1 if None in fars else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
